import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'tap';
import { TEST_CERTIFICATE } from '../helper/fixtures/test-certificate.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, TEST_SERVER, testCatalog } from '../helper/start/gateway-in-process.ts';

/** Sends bytes as they are and reads the answer until the server closes or the text matches. */
async function raw(url: string, text: string, until: RegExp): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) {
    answer += chunk;
    if (until.test(answer)) break;
  }
  socket.destroy();
  return answer;
}

const BODY = '{"model":"flat","messages":[]}';

test('headers that break the bare plugin do not break a call: Expect, Keep-Alive, Upgrade', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  const call = (header: string) =>
    raw(
      url,
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${header}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
      /"usage"/,
    );
  for (const header of [
    'Expect: 100-continue',
    'Keep-Alive: timeout=5',
    'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  ]) {
    t.match(await call(header), /HTTP\/1\.1 200 OK/, header);
  }
});

test('a client cannot strip the injected credential by naming it in Connection (CVE-2026-33805)', async (t) => {
  const { url, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account();
  await raw(
    url,
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: authorization, content-type\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    /"usage"/,
  );
  t.equal((await provider.request(0)).headers.authorization, 'Bearer upstream-secret');
});

test('a body over the limit gets 413 and is not streamed past it', async (t) => {
  const { url, account, provider } = await startGatewayInProcess(t, {
    behave: () => undefined,
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 1_000 } },
  });
  const { key } = await account();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'flat', messages: [{ role: 'user', content: 'x'.repeat(2_000) }] }),
  });
  t.equal(response.status, 413);
  t.match(await response.json(), { error: { code: 'body_too_large' } });
  t.equal(provider.requests.length, 0);
});

test('the certificate of an upstream is verified', async (t) => {
  const server = createServer(TEST_CERTIFICATE, (_request, response) => response.end('{}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const provider = await startScriptedProvider();
  t.teardown(() => provider.close());
  const { chat, account } = await startGatewayInProcess(t, {
    provider,
    config: { catalog: testCatalog(`https://127.0.0.1:${port}`) },
  });
  const { key } = await account();
  const response = await chat(key);
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 'upstream_unavailable' } });
});

test('a path prefix of an upstream is kept, and the query is passed on', async (t) => {
  const provider = await startScriptedProvider({
    behave: () => ({ body: { text: 'Any endpoint takes this for an answer.' } }),
    record: true,
  });
  t.teardown(() => provider.close());
  const { url, account } = await startGatewayInProcess(t, {
    provider,
    config: { catalog: testCatalog(`${provider.url}/openai/deployments`) },
  });
  const { key } = await account();
  await fetch(`${url}/v1/chat/completions?beta=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: BODY,
  });
  t.equal((await provider.request(0)).url, '/openai/deployments/v1/chat/completions?beta=true');
});

test('invalid HTTP is refused in our words, and the process lives', async (t) => {
  const { url, account, chat } = await startGatewayInProcess(t);
  const answer = await raw(url, 'GARBAGE\r\n\r\n', /}}/);
  t.match(answer, /^HTTP\/1\.1 400 Bad Request/);
  t.match(answer, /invalid_request/);
  t.match(
    await raw(url, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, /}}/),
    /^HTTP\/1\.1 431/,
  );
  t.equal((await fetch(`${url}/%zz`)).status, 400);
  const { key } = await account();
  t.equal((await chat(key)).status, 200);
});

test('base64 of an image does not count as text in the hold', async (t) => {
  const { chat, account } = await startGatewayInProcess(t);
  // 1 MB of base64 would hold 1,000 credits as text; the image bound is 1,000 tokens: 1 credit.
  const { key } = await account({ credits: 5 });
  const image = (url: string) => ({
    model: 'tokens',
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  t.equal((await chat(key, image(`data:image/png;base64,${'A'.repeat(1_000_000)}`))).status, 200);
  t.equal((await chat(key, image(`https://example.com/${'a'.repeat(10_000)}`))).status, 402);
});
