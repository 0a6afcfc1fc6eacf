import { VERSION } from '../../config/version.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { type Action, type Reach, ROLES, type Role, reachOf, rolesThatMay } from '../../domain/roles.ts';
import { CALL_OPERATIONS } from './call-operations.ts';
import { type ErrorFormat, errorAnswers, errorExamples } from './error-answers.ts';
import { HEADERS } from './headers.ts';
import type { JsonSchema } from './json-type.ts';
import type { Answer, Example, Media, Operation, RouteDocs } from './operation.ts';

type Methods = Record<string, Operation>;
type Paths = Record<string, Methods>;

export interface Document {
  readonly [part: string]: unknown;
  readonly tags?: readonly { readonly name: string }[];
  readonly components?: Readonly<Record<string, unknown>>;
  readonly paths?: Paths;
}

/**
 * Completes the document that Fastify builds from the route schemas: adds model calls, refusals and examples, names
 * schemas, and sorts paths by tag.
 */
export function finish(document: Document): Document {
  const schemas: Record<string, JsonSchema> = {};
  const order = (document.tags ?? []).map(({ name }) => name);
  const paths = mapValues(byTag(described(document.paths ?? {}), order), (methods) =>
    mapValues(methods, (operation, method) => nameSchemas(complete(operation, method), schemas)),
  );
  const webhooks = { low_credits: { post: nameSchemas(LOW_CREDITS_WEBHOOK, schemas) } };
  const examples = { ...errorExamples('openai'), ...errorExamples('anthropic') };
  const used = JSON.stringify(paths);
  return {
    ...document,
    paths,
    webhooks,
    components: {
      ...document.components,
      schemas,
      headers: HEADERS,
      examples: Object.fromEntries(
        Object.entries(examples).filter(([name]) => used.includes(`"#/components/examples/${name}"`)),
      ),
    },
  };
}

/** Replaces an operation's `x-docs` by refusals, examples and headers. */
function complete({ 'x-docs': given, ...operation }: Operation, method: string): Operation {
  if (given === undefined) return operation;
  const docs = { ...given, refusals: [...given.refusals, ...ofSessions(operation, method)] };
  const { errorFormat = 'openai', requests, isBodyOptional } = docs;
  const { requestBody } = operation;
  const responses = {
    ...errorAnswers(docs, '4XX' in operation.responses),
    ...mapValues(operation.responses, (answer, status) => withExample(answer, status, docs)),
  };
  return {
    ...operation,
    ...(docs.may
      ? { description: `${operation.description ?? operation.summary}${rolesText(docs.may)}` }
      : {}),
    ...(requestBody && requests
      ? {
          requestBody: {
            ...requestBody,
            ...(isBodyOptional ? { required: false } : {}),
            content: mapValues(requestBody.content, exemplified(requests)),
          },
        }
      : {}),
    responses: mapValues(responses, (answer) => identified(answer, errorFormat)),
  };
}

/** Refusals of every change with a session: it needs JSON and an own origin. */
function ofSessions({ security = [] }: Operation, method: string): readonly ErrorCode[] {
  const isChange = method !== 'get' && security.some((scheme) => 'session' in scheme);
  return isChange ? ['unsupported_media_type', 'cross_site'] : [];
}

/** Which people may call a route, and how far: from the one table of roles. */
function rolesText(actions: readonly Action[]): string {
  const reaches = new Map<Role, Reach>();
  for (const action of actions)
    for (const role of rolesThatMay(action))
      if (reaches.get(role) !== 'all') reaches.set(role, reachOf(role, action) as Reach);
  const roles = ROLES.filter((role) => reaches.has(role));
  const words = roles.map((role) => (reaches.get(role) === 'own' ? `${role} (own keys)` : role));
  return ` Roles of people: ${words.join(', ')}.`;
}

function withExample(answer: Answer, status: string, docs: RouteDocs): Answer {
  const value = docs.otherAnswers?.[status] ?? (status.startsWith('2') ? docs.answer : undefined);
  const media = answer.content?.['application/json'];
  if (value === undefined || !media) return answer;
  const shown = exemplified({ answer: { value } })(media);
  return { ...answer, content: { ...answer.content, 'application/json': shown } };
}

function exemplified(examples: Readonly<Record<string, Example>>): (media: Media) => Media {
  return (media) => ({ ...media, examples });
}

/** Adds the common headers: `x-request-id`, and `request-id` on Anthropic's routes (specification section 3). */
function identified(answer: Answer, format: ErrorFormat): Answer {
  const names = format === 'anthropic' ? ['x-request-id', 'request-id'] : ['x-request-id'];
  const ids = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { ...answer, headers: { ...Object.fromEntries(ids), ...answer.headers } };
}

/** Takes the operations of forwarded calls from CALL_OPERATIONS: their routes have no schemas. */
function described(paths: Paths): Paths {
  return mapValues(paths, (methods, path) =>
    mapValues(
      methods,
      (generated, method) => CALL_OPERATIONS[`${method.toUpperCase()} ${path}`] ?? generated,
    ),
  );
}

function byTag(paths: Paths, order: readonly string[]): Paths {
  const rank = ([, methods]: [string, Methods]) => {
    const [operation] = Object.values(methods);
    return order.indexOf(operation?.tags?.[0] ?? '');
  };
  return Object.fromEntries(Object.entries(paths).sort((a, b) => rank(a) - rank(b)));
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}

/** Keywords whose values can look like schemas but aren't. */
const VALUES: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/**
 * Moves every schema with a `title` from a part of the document into `schemas` and leaves a reference, so that
 * generated clients get one type for it. Throws if two different schemas share a title.
 */
function nameSchemas<Part>(part: Part, schemas: Record<string, JsonSchema>): Part {
  return moved(part, schemas) as Part;
}

function moved(node: unknown, schemas: Record<string, JsonSchema>): unknown {
  if (Array.isArray(node)) return node.map((item) => moved(item, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, VALUES.has(key) ? value : moved(value, schemas)]),
  );
  const { title } = copy;
  if (typeof title !== 'string') return copy;
  const known = schemas[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) {
    throw new Error(`two schemas of the API have the title ${title}`);
  }
  schemas[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}

/** Schema of the alert's body (specification section 6). */
const ALERT: JsonSchema = {
  title: 'LowCreditsAlert',
  type: 'object',
  required: ['event', 'user_email', 'credits_balance'],
  additionalProperties: false,
  properties: {
    event: { type: 'string', const: 'low_credits' },
    user_email: { type: 'string', description: 'Email address of the owner of the account.' },
    credits_balance: {
      type: 'number',
      description:
        'Balance after the debit that crossed the threshold; in a test alert, the current balance.',
    },
  },
};

const header = (name: string, description: string, schema: JsonSchema, example: string, required = true) => ({
  in: 'header',
  name,
  description,
  required,
  schema: { type: 'string', ...schema },
  example,
});

/** The webhook request that the gateway sends (specification section 6). */
const LOW_CREDITS_WEBHOOK = {
  operationId: 'lowCreditsAlert',
  tags: ['Account'],
  summary: 'Low-credits alert',
  description:
    'Sent to the `webhook_url` of every active key when a debit takes the balance from the threshold or more to below it, ' +
    'once for each crossing; a top-up re-arms it. Name resolution, connection and answer can take 10 seconds. The gateway ' +
    'follows no redirects and never retries. `GET /api/account/alerts/` shows the outcome.\n\n' +
    'Signed by [Standard Webhooks](https://www.standardwebhooks.com) with the `webhook_secret` of the account: the signature ' +
    'is the base64 of an HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. The key is the base64-decoded part ' +
    'after `whsec_`.',
  security: [],
  parameters: [
    header('webhook-id', 'Id of this message to this key.', { pattern: '^msg_\\d+_\\d+$' }, 'msg_3_1'),
    header(
      'webhook-timestamp',
      'Time of sending: Unix time in seconds.',
      { pattern: '^\\d+$' },
      '1795242083',
    ),
    header(
      'webhook-signature',
      'Version of the scheme, and the signature in base64.',
      { pattern: '^v1,[A-Za-z0-9+/]+={0,2}$' },
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ),
    header('webhook-test', 'Only in test alerts.', { const: 'true' }, 'true', false),
    header('user-agent', 'The gateway and its version.', { pattern: '^Tollgate/' }, `Tollgate/${VERSION}`),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: ALERT,
        examples: {
          alert: {
            value: { event: 'low_credits', user_email: 'demo@example.com', credits_balance: 99.994876 },
          },
        },
      },
    },
  },
  responses: {
    '2XX': { description: 'Delivered, whatever the body.' },
    default: { description: 'Failed; a redirect is a failure too.' },
  },
};
