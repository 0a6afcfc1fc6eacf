import { test } from 'tap';
import { type Described, operationsOf, readDocument } from '../helper/documented/api-document.ts';
import { CALLS } from '../helper/documented/documented-calls.ts';
import { startDocumentedGateway } from '../helper/documented/documented-gateway.ts';
import {
  bodiesOf,
  type DocumentedRequest,
  requestOf,
  schemesOf,
  send,
} from '../helper/documented/documented-request.ts';

/**
 * Unknown parameters were ignored: `?from=2030-01-01` returned the whole ledger. Specification section 2 refuses them,
 * so that nobody gets another answer than they asked for.
 */
test('each operation refuses parameters that it does not know or that are sent twice, and changes nothing', async (t) => {
  const world = await startDocumentedGateway(t);
  const caller = await world.account();
  const keys = async () => (await world.api('GET', '/api/keys/', caller.key)).text();
  const refusal = async (operation: Described, request: DocumentedRequest) => {
    const response = await send(world.url, operation, request);
    const { error } = (await response.json()) as { error?: { code: string; param: string | null } };
    return [response.status, error?.code, error?.param];
  };
  const operations = operationsOf(await readDocument(world.url));
  for (const operation of operations.filter(({ path }) => path.startsWith('/api/'))) {
    const { name: route, operationId = '', parameters = [], method } = operation;
    const [[, body] = []] = bodiesOf(operation);
    const [scheme] = schemesOf(operation);
    const [call = {}] = CALLS[operationId] ?? [];
    const request = await requestOf({ world, caller }, operation, call, scheme, body);
    const before = await keys();
    for (const name of ['no_such_parameter', 'constructor', '__proto__', 'Limit', 'dry_run', '']) {
      const got = await refusal(operation, { ...request, query: `${name}=1` });
      t.same(got, [400, 'invalid_field', name], `${route}: ${name}`);
    }
    const cut = await refusal(operation, { ...request, query: `${'x'.repeat(5_000)}=1` });
    t.equal(cut.at(-1), `${'x'.repeat(100)}…`, route);
    for (const { name } of parameters.filter((one) => one.in === 'query')) {
      const got = await refusal(operation, { ...request, query: `${name}=1&${name}=1` });
      t.same(got, [400, 'invalid_field', name], `${route}: ${name} twice`);
    }
    const unknown = { ...request, query: 'no_such_parameter=1' };
    const asStranger = await refusal(operation, { ...unknown, headers: {} });
    if (scheme) t.equal(asStranger[0], 401, `${route} does not reveal its parameters to a stranger`);
    if (method === 'GET') {
      const head = await send(world.url, { ...operation, method: 'HEAD' }, unknown);
      t.equal(head.status, 400, `HEAD, as ${route}`);
    }
    t.equal(await keys(), before, route);
  }
});
