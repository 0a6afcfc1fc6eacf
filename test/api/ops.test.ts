import Fastify from 'fastify';
import { Counter, Registry } from 'prom-client';
import t from 'tap';
import { type OpsDeps, opsRoutes } from '../../src/api/ops/ops-routes.ts';
import { VERSION } from '../../src/config/version.ts';
import { refuse } from '../../src/gateway/refuse.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const READY = { redis: { ok: true, durable: true }, book: { ok: true }, draining: false };

/** The operations routes alone, with addresses and states that a whole gateway on loopback cannot have. */
async function opsApp(options: { readiness?: Awaited<ReturnType<OpsDeps['readiness']>> } = {}) {
  const metrics = new Registry();
  new Counter({ name: 'calls_total', help: 'Calls', registers: [metrics] }).inc(3);
  const app = Fastify();
  app.setErrorHandler(refuse);
  await app.register(
    opsRoutes({
      operatorTokens: { requireScraper() {} },
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

t.test(
  'the load balancer took every gateway out for an outage of the book, in which calls go on',
  async (t) => {
    const redis = { ok: false, durable: false, detail: 'Redis does not answer.' };
    const app = await opsApp({ readiness: { ...READY, redis } });
    const response = await app.inject('/readyz');
    t.equal(response.statusCode, 503);
    t.same(response.json(), { status: 'unavailable', redis, book: { ok: true } });
    const book = { ok: false, detail: 'The book (database) does not answer.' };
    const other = await (await opsApp({ readiness: { ...READY, book } })).inject('/readyz');
    const degraded = { status: 'degraded', redis: READY.redis, book };
    t.same([other.statusCode, other.json()], [200, degraded], 'no load balancer takes it out: calls go on');
  },
);

t.test('a Redis that would lose credits is shown, and still ready', async (t) => {
  const redis = { ok: true, durable: false, detail: 'appendonly is off' };
  const response = await (await opsApp({ readiness: { ...READY, redis } })).inject('/readyz');
  t.same([response.statusCode, response.json().redis], [200, redis]);
});

t.test('a stopping gateway reports that it is not ready', async (t) => {
  const response = await (await opsApp({ readiness: { ...READY, draining: true } })).inject('/readyz');
  t.same([response.statusCode, response.json().status], [503, 'draining']);
});

t.test('metrics were public behind many proxies, where no token was set', async (t) => {
  const world = await startGatewayInProcess(t, { config: { adminToken: undefined } });
  const authorizations: Record<string, string>[] = [{}, { authorization: 'Bearer undefined' }];
  for (const headers of authorizations) {
    const answer = await fetch(`${world.url}/metrics`, { headers });
    t.same(
      [answer.status, ((await answer.json()) as { error: { code: string } }).error.code],
      [404, 'unknown_endpoint'],
    );
  }
});

t.test('Prometheus has a token of its own, which opens nothing else', async (t) => {
  const metricsToken = 'token-for-prometheus-and-its-like';
  const world = await startGatewayInProcess(t, { config: { metricsToken } });
  t.equal((await world.api('GET', '/metrics', metricsToken)).status, 200);
  t.equal((await world.api('GET', '/metrics', ADMIN_TOKEN)).status, 200);
  t.equal((await world.api('GET', '/metrics', 'wrong')).status, 401);
  t.equal((await fetch(`${world.url}/metrics`)).status, 401);
  t.equal((await world.api('GET', '/api/admin/accounts/', metricsToken)).status, 401);
});

t.test("pages of other origins could try the operator's token and read the answer", async (t) => {
  const world = await startGatewayInProcess(t);
  const headers = { origin: 'https://evil.example', authorization: `Bearer ${ADMIN_TOKEN}` };
  const paths = ['/metrics', '/metrics/', '/%6detrics', '/api/admin/accounts/', '/api/%61dmin/accounts/'];
  for (const path of paths) {
    const answer = await fetch(`${world.url}${path}`, { headers });
    t.equal(answer.status, 200, path);
    await answer.text();
    const names = [...answer.headers.keys()];
    t.same(
      names.filter((name) => name.startsWith('access-control-')),
      [],
      path,
    );
  }
  const asked = { ...headers, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x' };
  for (const path of [...paths, '/metrics?x', '/api/admin/nothing', '/api/admin']) {
    const preflight = await fetch(`${world.url}${path}`, { method: 'OPTIONS', headers: asked });
    t.same([preflight.status, preflight.headers.get('access-control-allow-origin')], [404, null], path);
  }
  const ofOwners = await fetch(`${world.url}/api/account/`, { method: 'OPTIONS', headers: asked });
  t.same([ofOwners.status, ofOwners.headers.get('access-control-allow-origin')], [204, '*']);
});
