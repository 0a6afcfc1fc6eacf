import t from 'tap';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const ROUTES = [
  ['GET', '/api/admin/accounts/'],
  ['POST', '/api/admin/accounts/'],
  ['GET', '/api/admin/accounts/1/'],
  ['PATCH', '/api/admin/accounts/1/'],
  ['POST', '/api/admin/accounts/1/credits/'],
  ['POST', '/api/admin/accounts/1/keys/'],
] as const;

t.test('every route asks for the operator token, before it reads anything', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const [method, path] of ROUTES) {
    for (const token of [
      'wrong',
      `${ADMIN_TOKEN}x`,
      ADMIN_TOKEN.slice(0, -1),
      ADMIN_TOKEN.toUpperCase(),
      key,
    ]) {
      const response = await world.api(method, path, token, method === 'GET' ? undefined : 'not JSON');
      t.equal(response.status, 401, `${method} ${path}`);
      t.equal(response.headers.get('www-authenticate'), 'Bearer');
      t.equal(response.headers.get('cache-control'), 'no-store');
      t.match(await response.json(), {
        error: { code: 'invalid_admin_token', type: 'authentication_error' },
      });
    }
  }
  const none = await fetch(`${world.url}/api/admin/accounts/`);
  t.equal(none.status, 401);
  const basic = await fetch(`${world.url}/api/admin/accounts/`, {
    headers: { authorization: `Basic ${ADMIN_TOKEN}` },
  });
  t.equal(basic.status, 401);
});

t.test('the scheme is read in any case', async (t) => {
  const world = await startGatewayInProcess(t);
  const response = await fetch(`${world.url}/api/admin/accounts/`, {
    headers: { authorization: `bearer ${ADMIN_TOKEN}` },
  });
  t.equal(response.status, 200);
});

t.test('the operator token is no API key', async (t) => {
  const world = await startGatewayInProcess(t);
  t.same(refusalOf(await apiOf(world, ADMIN_TOKEN).get('/api/keys/')), [401, 'invalid_api_key', null]);
});

t.test('without an ADMIN_TOKEN the operator API is not there', async (t) => {
  const world = await startGatewayInProcess(t, { config: { adminToken: undefined } });
  for (const [method, path] of ROUTES) {
    for (const token of ['', 'undefined', ADMIN_TOKEN]) {
      const response = await world.api(method, path, token, method === 'GET' ? undefined : {});
      t.equal(response.status, 404, `${method} ${path}`);
      t.match(await response.json(), { error: { code: 'unknown_endpoint' } });
    }
  }
});
