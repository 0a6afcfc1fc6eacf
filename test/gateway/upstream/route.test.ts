import { once } from 'node:events';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type Test, test } from 'tap';
import type { Upstream } from '../../../src/domain/catalog.ts';
import { fetchAnswer, wholeAnswer } from '../../../src/gateway/upstream/fetch.ts';
import { UpstreamTransport } from '../../../src/gateway/upstream/transport.ts';
import { LOOPBACK_CERTIFICATE, TEST_CERTIFICATE } from '../../helper/fixtures/test-certificate.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';
import { mediaCatalog } from '../../helper/start/media-gateway.ts';

const { cert: ca } = LOOPBACK_CERTIFICATE;

async function listening(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A provider with a certificate of a private authority, which answers after a 100 that nobody asked for. */
async function startProvider(t: Test): Promise<string> {
  const provider = createServer(LOOPBACK_CERTIFICATE, (request, response) => {
    request.resume();
    response.writeContinue();
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound');
  });
  return `https://localhost:${await listening(t, provider)}`;
}

/** A proxy that makes tunnels for one user, and its tunnels. With a certificate, it is reached by TLS. */
async function startProxy(
  t: Test,
  certificate?: typeof TEST_CERTIFICATE,
): Promise<{ url: string; tunnels: string[] }> {
  const tunnels: string[] = [];
  const proxy = certificate ? createServer(certificate) : createProxy();
  proxy.on('connect', ({ url = '', headers }, client) => {
    client.on('error', () => {});
    const user = Buffer.from(
      headers['proxy-authorization']?.replace('Basic ', '') ?? '',
      'base64',
    ).toString();
    if (user !== 'us:p@ss') return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    tunnels.push(url);
    const to = connect(Number(new URL(`http://${url}`).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      to.pipe(client).pipe(to);
    });
    to.on('error', () => client.destroy());
  });
  const scheme = certificate ? 'https' : 'http';
  return { url: `${scheme}://us:p%40ss@127.0.0.1:${await listening(t, proxy)}`, tunnels };
}

/** Gets the answer of an upstream, or the error. */
async function answerOf(t: Test, upstream: Partial<Upstream> & { url: string }): Promise<string> {
  const transport = new UpstreamTransport({ headersTimeoutMs: 60_000, idleTimeoutMs: 60_000 });
  t.teardown(() => transport.close());
  const request = {
    upstream: { name: 'u', apiKey: '', format: 'openai', ...upstream },
    upstreamModel: 'm',
    path: '/v1/videos/1',
    endpoint: '/v1/videos',
    method: 'GET',
    query: '',
    client: undefined,
  } as const;
  return await fetchAnswer(transport, request, new AbortController().signal)
    .then(wholeAnswer)
    .then(
      ({ body }) => body.toString(),
      (error: Error) => error.message,
    );
}

test('an upstream is verified by its own authority, and by no other', async (t) => {
  const url = await startProvider(t);
  t.equal(await answerOf(t, { url, ca }), 'sound');
  t.equal(await answerOf(t, { url, ca: TEST_CERTIFICATE.cert + ca }), 'sound', 'one of several');
  t.match(await answerOf(t, { url }), /self-signed/);
  t.match(await answerOf(t, { url, ca: TEST_CERTIFICATE.cert }), /self-signed/);
});

test('calls go through the proxy of their upstream, which does not see them', async (t) => {
  const [url, proxy] = [await startProvider(t), await startProxy(t)];
  const before = mediaCatalog(url);
  const catalog = new Map(
    [...before].map(([slug, model]) => [
      slug,
      { ...model, upstream: { ...model.upstream, ca, proxy: proxy.url } },
    ]),
  );
  const gateway = await startGatewayInProcess(t, { config: { catalog } });
  const { key } = await gateway.account({ credits: 100 });
  const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'voice', input: 'Hello', voice: 'alloy' }),
  });
  t.equal(await answer.text(), 'sound');
  t.same(proxy.tunnels, [url.replace('https://', '')]);
});

test('a proxy that refuses, hangs up or is away counts as an upstream that is not reached', async (t) => {
  const url = await startProvider(t);
  const { url: proxy } = await startProxy(t);
  t.match(await answerOf(t, { url, ca, proxy: proxy.replace('us:', 'them:') }), /no connection by .* 407$/);
  t.notMatch(await answerOf(t, { url, ca, proxy: proxy.replace('us:', 'them:') }), /p@ss|p%40ss/);
  const silent = createProxy().on('connect', (_, client) => client.destroy());
  t.match(
    await answerOf(t, { url, ca, proxy: `http://127.0.0.1:${await listening(t, silent)}` }),
    /^no conn/,
  );
  t.match(await answerOf(t, { url, ca, proxy: 'http://127.0.0.1:1' }), /^no connection by .*REFUSED/);
});

test('a proxy is verified by its own name, whatever the environment says', async (t) => {
  const url = await startProvider(t);
  const proxy = await startProxy(t, LOOPBACK_CERTIFICATE);
  // The name of the provider, not that of the proxy.
  const provider = { url: url.replace('localhost', 'provider.test'), ca: TEST_CERTIFICATE.cert };
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  t.match(await answerOf(t, { url, ca, proxy: proxy.url }), /^no connection by .*self-signed/);
  const usual = getCACertificates();
  setDefaultCACertificates([...usual, ca]);
  t.teardown(() => setDefaultCACertificates(usual));
  t.equal(await answerOf(t, { url, ca, proxy: proxy.url }), 'sound');
  t.match(await answerOf(t, { ...provider, proxy: proxy.url }), /self-signed/, 'the provider by its own');
  t.equal(proxy.tunnels.length, 2);
  const other = proxy.url.replace('127.0.0.1', '127.0.0.2');
  t.match(await answerOf(t, { url, ca, proxy: other }), /^no connection by /);
});

test('a reload that changes the route applies to the next call', async (t) => {
  const [url, proxy] = [await startProvider(t), await startProxy(t)];
  const transport = new UpstreamTransport({ headersTimeoutMs: 60_000, idleTimeoutMs: 60_000 });
  t.teardown(() => transport.close());
  for (const route of [{ ca }, { ca, proxy: proxy.url }, { ca }]) {
    const { body } = await transport.fetch({ origin: url, ...route }, { path: '/', method: 'GET' });
    t.equal(await body.text(), 'sound');
  }
  t.equal(proxy.tunnels.length, 1);
});
