import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import { ENDPOINTS } from '../gateway/endpoints.ts';
import { VERSION } from '../version.ts';

/** Everything that the page at /docs loads comes from this gateway: it works without the internet. */
const DOCS_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

/**
 * `/openapi.json` (OpenAPI 3.1) and `/docs`, made from the schemas of the routes that are registered after it.
 *
 * It describes the app that it is registered on, not a scope of its own: the symbol is what Fastify asks of a plugin
 * that is not to be encapsulated.
 */
export function openapi(): FastifyPluginAsync {
  return Object.assign(describe, { [Symbol.for('skip-override')]: true });
}

async function describe(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: VERSION,
        description:
          'A credit-metered gateway for AI model APIs: model calls, keys, account, operator, operations.',
      },
      tags: ['Model calls', 'Keys', 'Account', 'Operator', 'Operations'].map((name) => ({ name })),
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key' },
          adminToken: { type: 'http', scheme: 'bearer', description: 'The ADMIN_TOKEN of this gateway' },
        },
      },
    },
    transform: describeModelCall,
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: DOCS_POLICY });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  );
}

/**
 * Routes under /v1 have no schemas of ours: bodies are the providers' own, and what the gateway does not judge it does
 * not describe. The endpoint table says what they are for.
 */
function describeModelCall({ schema, url }: { schema: FastifySchema; url: string }) {
  if (!url.startsWith('/v1/')) return { schema, url };
  const endpoint = ENDPOINTS.find(({ path }) => path === url);
  const path = url.replace(/\*$|:\w+/, ':id');
  const ofJob = ENDPOINTS.some(({ path, makesJob }) => makesJob && url.startsWith(`${path}/`));
  const summary =
    endpoint === undefined
      ? ofJob
        ? 'Forwarded to the provider of the job; costs nothing'
        : 'Answered by the gateway'
      : `Forwarded to a provider in ${endpoint.format} format, metered as ${endpoint.category}`;
  return {
    url: path,
    schema: {
      ...schema,
      tags: ['Model calls'],
      summary,
      security: [{ apiKey: [] }],
      ...(path.includes(':id') ? { params: Type.Object({ id: Type.String() }) } : {}),
    },
  };
}
