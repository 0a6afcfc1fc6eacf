import type { FastifyRequest } from 'fastify';
import t from 'tap';
import { OperatorTokens } from '../../src/api/http/operator-token.ts';
import { newKeyValue } from '../../src/domain/key-value.ts';
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
  let addresses = 1;
  for (const [method, path] of ROUTES) {
    for (const token of [
      'wrong',
      `${ADMIN_TOKEN}x`,
      ADMIN_TOKEN.slice(0, -1),
      ADMIN_TOKEN.toUpperCase(),
      key,
    ]) {
      const body = method === 'GET' ? undefined : 'not JSON';
      const from = { 'x-forwarded-for': `198.51.100.${addresses++}` };
      const response = await world.api(method, path, token, body, from);
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

t.test('without an ADMIN_TOKEN no token is right', async (t) => {
  const world = await startGatewayInProcess(t, { config: { adminToken: undefined } });
  let addresses = 1;
  for (const [method, path] of ROUTES) {
    for (const token of ['', 'undefined', ADMIN_TOKEN]) {
      const from = { 'x-forwarded-for': `198.51.100.${addresses++}` };
      const response = await world.api(method, path, token, method === 'GET' ? undefined : {}, from);
      t.equal(response.status, 401, `${method} ${path}`);
      t.match(await response.json(), { error: { code: 'invalid_admin_token' } });
    }
  }
});

t.test('1,850 guesses a second went without a line', async (t) => {
  const lines: object[] = [];
  let now = 0;
  const ignore = () => {};
  const tokens = new OperatorTokens({
    adminToken: ADMIN_TOKEN,
    metricsToken: undefined,
    keyPrefix: 'sk-tg-',
    addressOf: ({ ip }) => ip,
    log: { debug: ignore, info: ignore, error: ignore, warn: (line) => lines.push(line) },
    now: () => now,
  });
  const codeOf = (ip: string, token: string) => {
    try {
      tokens.requireOperator({ ip, headers: { authorization: `Bearer ${token}` } } as FastifyRequest);
      return 'ok';
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  for (let sent = 0; sent < 10; sent++)
    t.equal(codeOf('2001:db8::1', `guess-${sent}`), 'invalid_admin_token');
  t.equal(
    codeOf('2001:db8::2', ADMIN_TOKEN),
    'rate_limit_exceeded',
    'nor does its network learn which is right',
  );
  t.equal(codeOf('2001:db8:0:1::1', ADMIN_TOKEN), 'ok', 'another network is not concerned');
  t.same(lines, [{ address: '2001:db8::/64', wrong: 1 }]);
  now = 59_999;
  t.equal(codeOf('2001:db8::1', ADMIN_TOKEN), 'rate_limit_exceeded');
  now = 60_000;
  t.equal(codeOf('2001:db8::1', ADMIN_TOKEN), 'ok');
  t.equal(codeOf('2001:db8::1', 'another'), 'invalid_admin_token');
  t.same(lines.at(-1), { address: '2001:db8::/64', wrong: 12 });
  t.equal(tokens.refused, 13);
  for (let sent = 0; sent < 20; sent++) codeOf('192.0.2.1', newKeyValue('sk-tg-').value);
  for (let sent = 0; sent < 20; sent++) codeOf('192.0.2.1', `sk-tg-mistyped${sent}`);
  t.equal(codeOf('192.0.2.1', ADMIN_TOKEN), 'ok', 'keys of owners are no guesses, nor mistyped ones');
});
