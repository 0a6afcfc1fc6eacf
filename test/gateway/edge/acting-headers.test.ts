import { test } from 'tap';
import { sendRaw } from '../../helper/clients/raw-http.ts';
import { startEdgeGateway } from '../../helper/start/edge-gateway.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-in-process.ts';

/** Headers by which a provider could steer a browser or a client's retries. */
const ACTING = {
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
      headers: { ...ACTING, 'x-kept': '1', 'x-content-type-options': 'sniff' },
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
    t.same(sniffable, []);
  });
});
