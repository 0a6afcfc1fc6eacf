import t, { type Test } from 'tap';
import { ERRORS, type ErrorCode } from '../../src/domain/errors.ts';
import {
  type Described,
  faultsOf,
  operationsOf,
  pointerTo,
  readDocument,
  validatorOf,
} from '../helper/documented/api-document.ts';
import { CALLS, type DocumentedCall } from '../helper/documented/documented-calls.ts';
import { startDocumentedGateway } from '../helper/documented/documented-gateway.ts';
import {
  bodiesOf,
  type DocumentedRequest,
  requestOf,
  schemesOf,
  send,
} from '../helper/documented/documented-request.ts';
import { isProvokedElsewhere, PROVOKED, UNPROVOKED } from './provoked-refusals.ts';

const OPERATIONS_AT_ONCE = 6;
/** Statuses on a machine so busy that Redis, the journal or the provider is late. */
const LATE = [503, 504];
const LATE_MAX = 20;
/** Statuses of refusals that pass with time. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 503]);

const world = await startDocumentedGateway(t);
const caller = await world.account();
const document = await readDocument(world.url);
const validate = validatorOf(document);
const operations = operationsOf(document);

t.test('operations answer and refuse as /openapi.json describes them', async (t) => {
  // In parallel, because most of the time is spent waiting for a provider that does not answer.
  t.jobs = OPERATIONS_AT_ONCE;
  const started = operations.flatMap((operation) => [
    t.test(`${operation.name} answers`, { buffered: true }, (t) => answers(t, operation)),
    t.test(`${operation.name} refuses`, { buffered: true }, (t) => refuses(t, operation)),
  ]);
  await Promise.all(started);
});

/** Sends every example of the operation with each of its credentials. */
async function answers(t: Test, operation: Described): Promise<void> {
  for (const call of CALLS[operation.operationId ?? ''] ?? []) {
    for (const scheme of schemesOf(operation)) {
      for (const [name, body] of bodiesOf(operation)) {
        const request = await requestOf({ world, caller }, operation, call, scheme, body);
        const label = `${scheme ?? 'nobody'}, ${name} ${call.query ?? ''}`;
        const response = await sendInTime(operation, request);
        const refusal = response.ok ? '' : await response.clone().text();
        t.equal(Math.floor(response.status / 100), 2, `${label}: ${response.status} ${refusal}`);
        t.same(await faultsOf(document, validate, operation, response), [], label);
      }
    }
  }
}

/** Provokes every documented refusal of the operation. */
async function refuses(t: Test, operation: Described): Promise<void> {
  const [call] = CALLS[operation.operationId ?? ''] ?? [];
  const codes = codesOf(operation);
  for (const code of codes.filter((code) => !PROVOKED[code])) {
    t.ok(UNPROVOKED.has(code), `${code}: say in test/api/provoked-refusals.ts how it is provoked`);
  }
  if (call) await Promise.all(codes.map((code) => refusesWith(t, operation, call, code)));
}

async function refusesWith(
  t: Test,
  operation: Described,
  call: DocumentedCall,
  code: ErrorCode,
): Promise<void> {
  const provoke = PROVOKED[code];
  if (!provoke || isProvokedElsewhere(operation, code)) return;
  const [[, body] = []] = bodiesOf(operation);
  const accepted = await requestOf({ world, caller }, operation, call, schemesOf(operation).at(-1), body);
  const provoked = await provoke(accepted, { world, caller }, operation);
  const status = statusOf(operation, code);
  const response = await sendInTime(operation, provoked, status);
  const copy = response.clone();
  t.equal(response.status, status, `${code}: status`);
  t.same(await faultsOf(document, validate, operation, response), [], code);
  const { error } = (await copy.json()) as { error?: { code?: string; message?: string } };
  t.equal(error?.code, code);
  // Some clients retry if they read these words.
  if (!TEMPORARY.has(response.status)) t.notMatch(error?.message, /try again|rate.?limit/i, code);
}

/** Repeats a request that gets a status of a busy machine, unless that is the status that is `meant`. */
async function sendInTime(
  operation: Described,
  request: DocumentedRequest,
  meant?: number,
): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await send(world.url, operation, request);
    const { status } = response;
    if (status === meant || !LATE.includes(status) || tries === LATE_MAX) return response;
    await response.body?.cancel();
  }
}

/** Error codes of which an operation shows an example. */
function codesOf({ responses }: Described): ErrorCode[] {
  return Object.entries(responses)
    .filter(([status]) => /^[45]\d\d$/.test(status))
    .flatMap(([, { content }]) => Object.keys(content?.['application/json']?.examples ?? {}))
    .filter((name): name is ErrorCode => name in ERRORS);
}

/** The status under which an operation shows an example of a code. */
function statusOf({ responses }: Described, code: ErrorCode): number {
  const [status] =
    Object.entries(responses).find(([, { content }]) => content?.['application/json']?.examples?.[code]) ??
    [];
  return Number(status);
}

t.test("a provider's own error is passed on as it is described", async (t) => {
  const chat = operations.find(({ operationId }) => operationId === 'createChatCompletion');
  const bodies = [
    { error: { message: 'Bad.', type: 'invalid_request_error', param: null, code: null } },
    { error: { message: 'Bad.', type: 'x', param: 'messages', code: 'context_length_exceeded' } },
    { object: 'error', error: { message: 'Bad.', code: 400 } },
  ];
  for (const status of [400, 402, 404, 413, 429, 503]) {
    for (const body of bodies) {
      const headers = { 'x-provider': JSON.stringify({ status, body }) };
      const response = await world.chat(caller.key, { model: 'demo-chat' }, headers);
      t.equal(response.status, status);
      const pointer = `${chat?.pointer}/responses/${status}/content/application~1json/schema`;
      t.equal(validate(pointer, await response.json()), undefined);
    }
  }
});

type Schema = Readonly<Record<string, unknown>>;

/** A value that violates a constraint of a JSON Schema, and the name of that constraint. */
interface Beyond {
  readonly constraint: string;
  readonly value: unknown;
}

/** For each pattern in our schemas, at least one of these texts violates it. */
const BREAKING = ['?', ' ', '\u0000'];

/** A value just beyond each constraint that a schema states. */
function beyond(schema: Schema): Beyond[] {
  const branches = (schema.anyOf ?? []) as Schema[];
  if (branches.length > 0) {
    // The other branch is always null, so a value that violates this one violates both.
    return branches.filter(({ type }) => type !== 'null').flatMap(beyond);
  }
  const { minimum, maximum, minLength, maxLength, maxItems, items, pattern } = schema;
  const found: Beyond[] = [{ constraint: 'type', value: { not: 'of the type' } }];
  const add = (constraint: string, value: unknown) => found.push({ constraint, value });
  if (typeof minimum === 'number') add('minimum', minimum - 1);
  if (typeof maximum === 'number') add('maximum', maximum + 1);
  if (typeof minLength === 'number' && minLength > 0) add('minLength', '');
  if (typeof maxLength === 'number') add('maxLength', textOfLength(schema, maxLength + 1));
  const breaking = BREAKING.find(
    (text) => pattern !== undefined && !new RegExp(String(pattern), 'u').test(text),
  );
  if (breaking !== undefined) add('pattern', breaking);
  if (schema.format === 'date-time') add('format', 'tomorrow');
  if (schema.enum !== undefined) add('enum', 'no such word');
  for (const item of items ? beyond(items as Schema) : []) add(`items.${item.constraint}`, [item.value]);
  if (typeof maxItems === 'number') {
    // All items differ, and each is valid wherever any text is.
    add(
      'maxItems',
      Array.from({ length: maxItems + 1 }, (_, index) => `203.0.${index >> 8}.${index & 255}`),
    );
  }
  return found;
}

/** Text whose only fault is its length. */
function textOfLength({ description = '', pattern }: Schema, length: number): string {
  if (String(description).includes('URL')) return `https://example.com/${'a'.repeat(length - 20)}`;
  return pattern === undefined ? 'a'.repeat(length) : `${'a'.repeat(length - 2)}@b`;
}

/**
 * The domain's functions check requests, with errors that name the field and say what would be right; schemas describe
 * them. This test keeps the two in step: the gateway must refuse whatever a schema of settings forbids.
 */
/** Model calls have the provider's bodies; another test covers what the gateway checks of them. */
/** The account above has as many keys as it may. */
const other = await world.account();
const requests = new Map<Described, DocumentedRequest>();
const managing = operations.filter(({ path }) => path.startsWith('/api/'));

for (const operation of managing.filter(({ requestBody }) => requestBody)) {
  const schema = bodyOf(operation);
  const properties = Object.entries(schema.properties as Record<string, Schema>);

  t.test(`${operation.name} refuses values that its description forbids`, async (t) => {
    for (const [name, property] of properties) {
      for (const { constraint, value } of beyond(property)) {
        const body = { ...exampleOf(operation), [name]: value };
        t.ok(
          validate(pointerTo('components', 'schemas', String(schema.title)), body),
          `${name}.${constraint}: forbidden`,
        );
        t.same(await refusal(operation, body), [400, 'invalid_field', name], `${name}: ${constraint}`);
      }
    }
  });

  t.test(`${operation.name} requires every field that its description requires`, async (t) => {
    for (const name of (schema.required ?? []) as string[]) {
      const { [name]: _, ...body } = exampleOf(operation);
      t.same(await refusal(operation, body), [400, 'invalid_field', name], name);
    }
    const body = { ...exampleOf(operation), no_such_field: 1 };
    t.equal(schema.additionalProperties, false);
    t.same(await refusal(operation, body), [400, 'invalid_field', 'no_such_field']);
  });
}

for (const operation of managing.filter(({ parameters }) => parameters?.some((one) => one.in === 'query'))) {
  t.test(`${operation.name} refuses parameters that its description forbids`, async (t) => {
    for (const { name, schema } of (operation.parameters ?? []).filter((one) => one.in === 'query')) {
      const wrong: Beyond[] = [
        ...beyond(schema).filter(({ value }) => typeof value !== 'object'),
        { constraint: 'type', value: schema.type === 'integer' || schema.format ? 'x' : undefined },
      ];
      for (const { constraint, value } of wrong.filter((one) => one.value !== undefined)) {
        const query = `${name}=${encodeURIComponent(String(value))}`;
        t.same(
          await refusal(operation, undefined, query),
          [400, 'invalid_field', name],
          `${constraint}: ${query}`,
        );
      }
    }
  });
}

function bodyOf({ requestBody }: Described): Schema {
  const reference = String(requestBody?.content['application/json']?.schema?.$ref);
  return document.components.schemas?.[reference.split('/').at(-1) ?? ''] ?? {};
}

function exampleOf({ requestBody }: Described): Record<string, unknown> {
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return (example?.value ?? {}) as Record<string, unknown>;
}

/** Status, code and param of the answer. Every request of an operation is about the same resource. */
async function refusal(operation: Described, body: unknown, query?: string): Promise<unknown[]> {
  const [call = {}] = CALLS[operation.operationId ?? ''] ?? [];
  const [scheme] = schemesOf(operation);
  const accepted =
    requests.get(operation) ??
    (await requestOf({ world, caller: other }, operation, call, scheme, undefined));
  requests.set(operation, accepted);
  const response = await send(world.url, operation, {
    ...accepted,
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: { type: 'application/json', example: body } }),
  });
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } };
  return [response.status, error?.code, error?.param];
}
