import t from 'tap';
import {
  type ApiDocument,
  type Described,
  operationsOf,
  pointerTo,
  readDocument,
  validatorOf,
} from '../helper/documented/api-document.ts';
import { CALLS } from '../helper/documented/documented-calls.ts';
import { startDocumentedGateway } from '../helper/documented/documented-gateway.ts';
import { credential, send } from '../helper/documented/documented-request.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-in-process.ts';

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
const world = await startDocumentedGateway(t);
const caller = await world.account();
const document = await readDocument(world.url);
const validate = validatorOf(document);
/** Model calls have the provider's bodies; another test covers what the gateway checks of them. */
const operations = operationsOf(document).filter(({ path }) => path.startsWith('/api/'));

for (const operation of operations.filter(({ requestBody }) => requestBody)) {
  const schema = bodyOf(document, operation);
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

for (const operation of operations.filter(({ parameters }) =>
  parameters?.some((one) => one.in === 'query'),
)) {
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

function bodyOf({ components }: ApiDocument, { requestBody }: Described): Schema {
  const reference = String(requestBody?.content['application/json']?.schema?.$ref);
  return components.schemas?.[reference.split('/').at(-1) ?? ''] ?? {};
}

function exampleOf({ requestBody }: Described): Record<string, unknown> {
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return (example?.value ?? {}) as Record<string, unknown>;
}

/** Status, code and param of the answer. */
async function refusal(operation: Described, body: unknown, query?: string): Promise<unknown[]> {
  const [call] = CALLS[operation.operationId ?? ''] ?? [];
  const [scheme] = Object.keys(operation.security?.[0] ?? {});
  const response = await send(world.url, operation, {
    path: (await call?.path?.(world, caller)) ?? {},
    headers: credential(scheme, caller.key, ADMIN_TOKEN),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: { type: 'application/json', example: body } }),
  });
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } };
  return [response.status, error?.code, error?.param];
}
