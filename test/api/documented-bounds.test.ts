import t from 'tap';
import {
  type ApiDocument,
  type Described,
  operationsOf,
  pointerTo,
  readDocument,
  validatorOf,
} from '../helper/api-document.ts';
import { type Beyond, beyond } from '../helper/beyond.ts';
import { CALLS } from '../helper/documented-calls.ts';
import { startDocumentedGateway } from '../helper/documented-gateway.ts';
import { credential, send } from '../helper/documented-request.ts';
import { ADMIN_TOKEN } from '../helper/gateway-in-process.ts';

/**
 * Requests are checked by the functions of the domain, which name the field and say what would be right, and described by
 * schemas: this is what keeps the two one. What a schema of settings forbids, the gateway must refuse.
 */
const world = await startDocumentedGateway(t);
const caller = await world.account();
const document = await readDocument(world.url);
const validate = validatorOf(document);
/** Model calls have bodies of the provider: a test of their own says what of them is checked. */
const operations = operationsOf(document).filter(({ path }) => path.startsWith('/api/'));

type Schema = Record<string, unknown>;

for (const operation of operations.filter(({ requestBody }) => requestBody)) {
  const schema = bodyOf(document, operation);
  const properties = Object.entries(schema.properties as Record<string, Schema>);

  t.test(`${operation.name} refuses what its description forbids`, async (t) => {
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

  t.test(`${operation.name} wants what its description requires`, async (t) => {
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
