import t from 'tap';
import { type Described, operationsOf, readDocument } from '../helper/documented/api-document.ts';
import { CALLS } from '../helper/documented/documented-calls.ts';
import { startDocumentedGateway } from '../helper/documented/documented-gateway.ts';
import {
  bodiesOf,
  credential,
  type DocumentedRequest,
  send,
} from '../helper/documented/documented-request.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-in-process.ts';

/**
 * Unknown parameters were ignored: `?from=2030-01-01` returned the whole ledger. Specification section 2 refuses them,
 * so that nobody gets another answer than they asked for.
 */
const world = await startDocumentedGateway(t);
const caller = await world.account();
const operations = operationsOf(await readDocument(world.url)).filter(({ path }) => path.startsWith('/api/'));

async function ask(operation: Described, query: string, headers?: Record<string, string>): Promise<Response> {
  const [call] = CALLS[operation.operationId ?? ''] ?? [];
  const [scheme] = Object.keys(operation.security?.[0] ?? {});
  const [[, body] = []] = bodiesOf(operation);
  const request: DocumentedRequest = {
    path: (await call?.path?.(world, caller)) ?? {},
    headers: headers ?? credential(scheme, caller.key, ADMIN_TOKEN),
    query,
    ...(body ? { body } : {}),
  };
  return await send(world.url, operation, request);
}

async function refusal(response: Response): Promise<unknown[]> {
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } };
  return [response.status, error?.code, error?.param];
}

for (const operation of operations) {
  t.test(`${operation.name} refuses a query parameter that it does not know`, async (t) => {
    for (const name of ['no_such_parameter', 'constructor', '__proto__', 'Limit', '']) {
      t.same(await refusal(await ask(operation, `${name}=1`)), [400, 'invalid_field', name], name);
    }
    const [cut] = (await refusal(await ask(operation, `${'x'.repeat(5_000)}=1`))).slice(-1);
    t.equal(cut, `${'x'.repeat(100)}…`);
    if (operation.method === 'GET') {
      const head = await ask({ ...operation, method: 'HEAD' }, 'no_such_parameter=1');
      t.equal(head.status, 400, 'HEAD alike');
    }
  });

  t.test(`${operation.name} refuses a parameter that is sent twice`, async (t) => {
    for (const { name } of (operation.parameters ?? []).filter((one) => one.in === 'query')) {
      t.same(await refusal(await ask(operation, `${name}=1&${name}=1`)), [400, 'invalid_field', name], name);
    }
  });

  t.test(`${operation.name} does not reveal its parameters to a stranger`, async (t) => {
    t.equal((await ask(operation, 'no_such_parameter=1', {})).status, 401);
  });
}

t.test('a request with an unknown parameter changes nothing', async (t) => {
  const before = await (await world.api('GET', '/api/keys/', caller.key)).text();
  await world.api('POST', '/api/keys/?dry_run=true', caller.key, { name: 'dry' });
  await world.api('DELETE', `/api/keys/${caller.keyId}/?dry_run=true`, caller.key);
  t.equal(await (await world.api('GET', '/api/keys/', caller.key)).text(), before);
});
