import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { VERSION } from '../../config/version.ts';
import { type Document, finish } from './finish.ts';

const DESCRIPTION = `A gateway between your apps and AI model APIs that meters every call in credits.

**Keys.** Send the value of a key as \`Authorization: Bearer <key>\`, or in the header \`x-api-key\` or \`api-key\`, never in
the URL. Of several, the first in this order counts. The operator's routes take the operator's token instead.

**People** sign in and send the cookie of their session. A request with a key is that of the key.

**Credits** are exact to six decimals. Before a call is sent, it reserves its highest possible cost (the hold). When it
ends, it pays its real cost (the charge).

**Errors** have one shape, \`{"error":{"message","type","param","code"}}\`; those of \`/v1/messages\` and below have
Anthropic's, with \`code\` and \`param\` in it. Compare \`code\`. Every answer has \`x-request-id\`, and every refusal that
a retry can't fix has \`x-should-retry: false\`. The gateway checks calls in this order: key, account, expiry,
hours, address, country, origin, body and model, category, model list, limits of calls, spending limit, credits; the first
failure is the answer.
Any other path or method gets 404 \`unknown_endpoint\`; \`GET /v1/responses\` with \`Upgrade: websocket\` gets
426 \`upgrade_required\`: use POST. Invalid HTTP gets 400 \`invalid_request\`; too large headers get that code with status 431.

**Times** are ISO 8601 in UTC, such as \`2026-11-21T08:00:00.000Z\`. Paths work with and without the trailing slash,
those below \`/v1\` also without it, with \`/v1/v1\` and with \`/api/v1\`, and Azure's as \`/openai/deployments/<model>/<route>\`.`;

/** Gateway-wide part of the OpenAPI document; route schemas add the rest. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Tollgate',
    version: VERSION,
    summary: 'A credit-metered gateway for AI model APIs',
    description: DESCRIPTION,
    license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'The gateway that serves this document' }],
  tags: [
    {
      name: 'Keys',
      description:
        'The keys of an account. A key with `can_manage` sees, creates, changes and deletes all of them; any other sees only itself. Changes take effect at every gateway before you get the answer.',
    },
    {
      name: 'Account',
      description: 'For the owner of a key: balance, threshold, ledger, usage, low-credits alerts.',
    },
    {
      name: 'People',
      description:
        'Signing in, members of an account, and invitations to it. A managing key may do what an admin may.',
    },
    {
      name: 'Models',
      description:
        "Calls that are metered and forwarded to a provider, once. Bodies are the provider's; this page has the treatment of " +
        'each field. Held: it costs tokens at the plain price, and the hold has a bound of them. Priced: it costs the ' +
        "model's price of the unit named. Refused, or free. Other fields pass unchanged. The examples use the demo models " +
        'of the default configuration.',
    },
    {
      name: 'Operator',
      description:
        'Accounts, credits, keys and people, with the operator token or the session of an operator. Without ADMIN_TOKEN, ' +
        'every token gets 401.',
    },
    { name: 'Operations', description: 'For monitoring.' },
  ],
  components: {
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: 'A key of the account.' },
      xApiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'A key of the account, as Anthropic clients send it.',
      },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: '__Host-tollgate',
        description:
          'The session of a person. Unsafe methods need `Content-Type: application/json` and an own origin. The header ' +
          '`Tollgate-Account` names the account if the person is a member of several.',
      },
      adminToken: { type: 'http', scheme: 'bearer', description: 'The ADMIN_TOKEN of this gateway.' },
    },
  },
} as const;

/**
 * Plugin that serves `/openapi.json` (OpenAPI 3.1), built from the schemas of routes registered after it. The symbol
 * keeps Fastify from encapsulating the plugin, because it describes the app that it is registered on.
 */
export function openapi(): FastifyPluginAsync {
  return Object.assign(describe, { [Symbol.for('skip-override')]: true });
}

async function describe(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: DOCUMENT as never,
    transform: ({ schema, url }: { schema: FastifySchema; url: string }) => ({ schema, url: named(url) }),
    transformObject: (made) =>
      finish(('openapiObject' in made ? made.openapiObject : {}) as unknown as Document) as never,
  });
  let text: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    // Built on the first request, when every route is registered.
    text ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').send(text);
  });
}

/** Path of a route in the document, where ids of models and provider resources are called `id`. */
function named(url: string): string {
  return url.startsWith('/v1/') ? url.replace(/\*$|:\w+/, ':id') : url;
}
