import { test } from 'tap';
import { sendRaw } from '../../helper/clients/raw-http.ts';
import { startEdgeGateway } from '../../helper/start/edge-gateway.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-in-process.ts';

/** Headers by which a provider could steer a browser, a client's retries, a cache or a proxy, or show its account. */
const ACTING = {
  age: '1',
  'activate-storage-access': 'retry',
  'cdn-cache-control': 'public, max-age=60',
  'content-disposition': 'attachment',
  etag: '"1"',
  expires: 'Fri, 01 Jan 2100 00:00:00 GMT',
  'last-modified': 'Fri, 01 Jan 2010 00:00:00 GMT',
  'surrogate-control': 'public',
  'x-accel-redirect': '/internal/x.txt',
  'x-accel-limit-rate': '1',
  'x-codex-credits-balance': '7',
  'x-envoy-immediate-health-check-fail': 'true',
  'x-sendfile': '/etc/passwd',
  'x-tollgate-warning': 'none',
  'accept-ch': 'sec-ch-ua-model',
  'clear-site-data': '"*"',
  link: '<https://provider.test/x.js>; rel=preload',
  nel: '{"report_to":"x","max_age":1}',
  refresh: '0; url=https://provider.test/',
  'report-to': '{}',
  'reporting-endpoints': 'x="https://provider.test/"',
  'service-worker-allowed': '/',
  'set-login': 'logged-out',
  'x-should-retry': 'true',
};

/** Answered by Node's parser before there is a request, or by Fastify before the route. */
const RAW = [
  'OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: https://a.test\r\nAccess-Control-Request-Method: POST\r\n\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 0\r\n\r\n',
  'no HTTP\r\n\r\n',
  'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
];

const PATHS = [
  '/',
  '/%zz',
  '/api/account/ledger/?format=csv',
  '/api/keys/',
  '/dashboard/',
  '/docs',
  '/healthz',
  '/metrics',
  '/openapi.json',
  '/readyz',
  '/v1/models',
  '/v1/nothing',
];

test('a provider cleared the site data of the page that called, and had its client repeat', async (t) => {
  const statuses = [200, 400, 500];
  const world = await startEdgeGateway(t, {
    behave: () => ({
      status: statuses[0] ?? 200,
      headers: {
        ...ACTING,
        'cache-control': 'public, max-age=60',
        'cf-ray': 'r',
        'x-request-id': 'theirs',
        'x-kept': '1',
        'x-content-type-options': 'sniff',
      },
    }),
  });
  const { owner, url } = world;
  for (; statuses.length > 0; statuses.shift()) {
    const { headers } = await world.chat(owner.key);
    t.same(
      Object.keys(ACTING).filter((name) => headers.has(name)),
      [],
      String(statuses[0]),
    );
    t.equal(headers.get('x-kept'), '1');
    t.equal(headers.get('cf-ray'), 'r');
    t.equal(headers.get('x-upstream-request-id'), 'theirs');
    t.equal(headers.get('cache-control'), 'no-store');
    t.equal(headers.get('x-content-type-options'), 'nosniff');
  }
  await t.test('an answer had no nosniff, so that a browser could take it for a page', async (t) => {
    const sniffable: string[] = [];
    const look = (what: string, value: string | null | undefined) =>
      value === 'nosniff' || sniffable.push(what);
    for (const bytes of RAW) {
      look(bytes.slice(0, 40), (await sendRaw(url, bytes))?.headers.get('x-content-type-options'));
    }
    for (const path of PATHS) {
      for (const token of [owner.key, ADMIN_TOKEN, 'sk-tg-nobody']) {
        const response = await world.api('GET', path, token);
        look(`${path} ${response.status}`, response.headers.get('x-content-type-options'));
        await response.text();
      }
    }
    const streamed = await world.chat(owner.key, { stream: true });
    look('a stream', streamed.headers.get('x-content-type-options'));
    await streamed.text();
    t.equal(streamed.headers.get('x-accel-buffering'), 'no', 'nginx would send a stream whole');
    t.same(sniffable, []);
  });
  await t.test('an answer below /v1 could be kept by a cache in front', async (t) => {
    const cacheable: string[] = [];
    for (const path of ['/v1', '/v1/', '/v1/models', '/v1/models/none', '/v1/%6dodels', '/v1/nothing']) {
      for (const token of [owner.key, 'sk-tg-nobody']) {
        const response = await world.api('GET', path, token);
        if (response.headers.get('cache-control') !== 'no-store')
          cacheable.push(`${path} ${response.status}`);
        await response.text();
      }
    }
    t.same(cacheable, []);
  });
});
