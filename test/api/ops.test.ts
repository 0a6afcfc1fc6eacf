import Fastify from 'fastify';
import { Counter, Registry } from 'prom-client';
import t from 'tap';
import { type OpsDeps, opsRoutes } from '../../src/api/ops/ops-routes.ts';
import { VERSION } from '../../src/config/version.ts';
import { refuse } from '../../src/gateway/refuse.ts';
import { ADMIN_TOKEN, startGatewayInProcess, testConfig } from '../helper/start/gateway-in-process.ts';

const READY = { redis: { ok: true, durable: true }, book: { ok: true }, draining: false };

/** The operations routes alone, with addresses and states that a whole gateway on loopback cannot have. */
async function opsApp(
  options: { adminToken?: string | undefined; readiness?: Awaited<ReturnType<OpsDeps['readiness']>> } = {},
) {
  const metrics = new Registry();
  new Counter({ name: 'calls_total', help: 'Calls', registers: [metrics] }).inc(3);
  const app = Fastify();
  app.setErrorHandler(refuse);
  await app.register(
    opsRoutes({
      config: testConfig('/nowhere', 'http://127.0.0.1', { adminToken: options.adminToken }),
      metrics,
      readiness: async () => options.readiness ?? READY,
    }),
  );
  return app;
}

t.test('a gateway that runs is healthy and ready, and a durable Redis is said to be', async (t) => {
  const world = await startGatewayInProcess(t);
  const health = await fetch(`${world.url}/healthz`);
  t.same([health.status, await health.json()], [200, { status: 'ok', version: VERSION }]);
  const ready = await fetch(`${world.url}/readyz`);
  t.same([ready.status, await ready.json()], [200, { status: 'ok', redis: READY.redis, book: READY.book }]);
  const metrics = await world.api('GET', '/metrics', ADMIN_TOKEN);
  t.equal(metrics.status, 200);
});

t.test('a part that does not answer is named, with 503', async (t) => {
  const redis = { ok: false, durable: false, detail: 'Redis does not answer.' };
  const app = await opsApp({ readiness: { ...READY, redis } });
  const response = await app.inject('/readyz');
  t.equal(response.statusCode, 503);
  t.same(response.json(), { status: 'unavailable', redis, book: { ok: true } });
  const book = { ok: false, detail: 'The book (database) does not answer.' };
  const other = await (await opsApp({ readiness: { ...READY, book } })).inject('/readyz');
  t.same([other.statusCode, other.json()], [503, { status: 'unavailable', redis: READY.redis, book }]);
});

t.test('a Redis that would lose credits is shown, and still ready', async (t) => {
  const redis = { ok: true, durable: false, detail: 'appendonly is off' };
  const response = await (await opsApp({ readiness: { ...READY, redis } })).inject('/readyz');
  t.same([response.statusCode, response.json().redis], [200, redis]);
});

t.test('a stopping gateway reports that it is not ready', async (t) => {
  const response = await (await opsApp({ readiness: { ...READY, draining: true } })).inject('/readyz');
  t.same([response.statusCode, response.json().status], [503, 'draining']);
});

const LOCAL = { remoteAddress: '127.0.0.1', headers: { host: 'localhost' } };

t.test('where there is no operator token, metrics are open to the machine itself', async (t) => {
  const app = await opsApp();
  for (const remoteAddress of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
    const response = await app.inject({ url: '/metrics', ...LOCAL, remoteAddress });
    t.equal(response.statusCode, 200, remoteAddress);
    t.match(response.headers['content-type'], 'text/plain');
    t.match(response.body, 'calls_total 3');
  }
  for (const host of ['localhost:8080', 'LocalHost', '127.0.0.1:9', '127.3.2.1', '[::1]', '[::1]:8080']) {
    t.equal((await app.inject({ url: '/metrics', ...LOCAL, headers: { host } })).statusCode, 200, host);
  }
});

t.test('metrics behind a proxy, or of a page whose name resolves to this machine, were public', async (t) => {
  const app = await opsApp();
  const refused = async (request: { remoteAddress?: string; headers?: Record<string, string> }) => {
    const response = await app.inject({ url: '/metrics', ...LOCAL, ...request });
    t.same([response.statusCode, response.json().error.code], [404, 'unknown_endpoint']);
  };
  for (const remoteAddress of ['203.0.113.7', '10.0.0.1', '::ffff:10.0.0.1'])
    await refused({ remoteAddress });
  for (const host of [
    'example.com',
    'localhost.evil.example',
    '10.0.0.1',
    '127.0.0.1.evil',
    '[::2]',
    '::1',
  ]) {
    await refused({ headers: { host } });
  }
  const forwarding = [
    'forwarded',
    'via',
    'x-real-ip',
    'x-forwarded-for',
    'x-forwarded-proto',
    'cf-connecting-ip',
    'CF-Ray',
  ];
  for (const name of forwarding) await refused({ headers: { host: 'localhost', [name]: '127.0.0.1' } });
});

t.test('where there is an operator token, metrics need it from everywhere', async (t) => {
  const app = await opsApp({ adminToken: ADMIN_TOKEN });
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const places = [
    LOCAL,
    { remoteAddress: '203.0.113.7', headers: {} },
    { remoteAddress: '127.0.0.1', headers: { 'x-forwarded-for': '127.0.0.1', host: 'example.com' } },
  ];
  for (const { remoteAddress, headers } of places) {
    const refused = await app.inject({ url: '/metrics', remoteAddress, headers });
    t.same([refused.statusCode, refused.json().error.code], [401, 'invalid_admin_token']);
    const allowed = await app.inject({
      url: '/metrics',
      remoteAddress,
      headers: { ...headers, authorization },
    });
    t.equal(allowed.statusCode, 200);
  }
});

t.test('pages of other origins could read the metrics of the machine that they were opened on', async (t) => {
  const world = await startGatewayInProcess(t, { config: { adminToken: undefined } });
  const headers = { origin: 'https://evil.example' };
  for (const path of ['/metrics', '/metrics/', '/%6detrics']) {
    const answer = await fetch(`${world.url}${path}`, { headers });
    t.equal(answer.status, 200);
    await answer.text();
    t.same(
      [...answer.headers.keys()].filter((name) => name.startsWith('access-control-')),
      [],
    );
  }
  const asked = { ...headers, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x' };
  for (const path of ['/metrics', '/metrics/', '/metrics?x']) {
    const preflight = await fetch(`${world.url}${path}`, { method: 'OPTIONS', headers: asked });
    t.equal(preflight.status, 404);
    t.equal(preflight.headers.get('access-control-allow-origin'), null);
  }
});
