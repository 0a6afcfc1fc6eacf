import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { type Test, test } from 'tap';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  testCatalog,
} from '../../helper/start/gateway-in-process.ts';

const SAID = 'data: {"choices":[{"index":0,"delta":{"content":"Hello there"},"finish_reason":null}]}\n\n';
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}\n\n';
const DONE = 'data: [DONE]\n\n';
const SSE = { 'content-type': 'text/event-stream' };
const STREAM = { model: 'tokens', stream: true, max_tokens: 100 };

/** A gateway before an upstream that ends its answer by ending the connection, as HTTP/1.0 does. */
async function worldClosing(t: Test, body: string, contentType: string): Promise<InProcessGateway> {
  const upstream = createServer((socket) => {
    socket.once('data', () => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: ${contentType}\r\nConnection: close\r\n\r\n${body}`);
    });
    socket.on('error', () => {});
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  t.teardown(() => upstream.close());
  const { port } = upstream.address() as AddressInfo;
  return await startGatewayInProcess(t, { config: { catalog: testCatalog(`http://127.0.0.1:${port}`) } });
}

test('a break of a connection that bounds the stream is no clean end', async (t) => {
  const world = await worldClosing(t, SAID, 'text/event-stream');
  const { key, accountId } = await world.account();
  const response = await world.chat(key, STREAM);
  await t.rejects(response.text());
  t.match(await lastCharge(world, accountId), { outcome: 'upstream_broke', usage: { output: 2 } });
});

test('a broken connection that bounds the JSON gives 502, and is charged once some of it has come', async (t) => {
  const world = await worldClosing(t, '{"choices":[{"mess', 'application/json; charset=utf-8');
  const { key, accountId } = await world.account();
  t.equal((await world.chat(key, { model: 'tokens' })).status, 502);
  t.match(await lastCharge(world, accountId), {
    outcome: 'upstream_broke',
    estimated: true,
    usage: { output: 5 },
  });
});

for (const [what, body, charged] of [
  [
    'its end, but lacks the blank line',
    `${SAID}${USAGE}data: [DONE]`,
    { estimated: false, credits: -11_000 },
  ],
  ['the usage, without the blank line', `${SAID}${USAGE.trimEnd()}`, { estimated: false, credits: -11_000 }],
  ['usage and no [DONE]', `${SAID}${FINISH}${USAGE}`, { estimated: false, credits: -11_000 }],
  ['a reason why it finished, and no more', `${SAID}${FINISH}`, { estimated: true, usage: { output: 2 } }],
] as const) {
  test(`a stream that ends with ${what} is whole`, async (t) => {
    const world = await worldClosing(t, body, 'text/event-stream');
    const { key, accountId } = await world.account();
    const text = await (await world.chat(key, STREAM)).text();
    t.match(text, 'Hello there');
    t.notMatch(text, 'usage');
    t.match(await lastCharge(world, accountId), { outcome: 'complete', ...charged });
  });
}

test('a client that leaves after [DONE] ends an upstream that does not', async (t) => {
  const body = [SAID, USAGE, DONE];
  const world = await startGatewayInProcess(t, { behave: () => ({ headers: SSE, body, stallAfter: 3 }) });
  const { key, accountId } = await world.account();
  let tookMs = Number.POSITIVE_INFINITY;
  // The connection would be cut 2 s after its end anyway. A busy machine may need as long, so the call is made again.
  for (let tries = 0; tries < 5 && tookMs >= 1_000; tries++) {
    await new Promise<void>((resolve) => {
      const request = httpRequest(`${world.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
      });
      request.on('error', () => resolve());
      request.on('response', (response) => {
        let text = '';
        response.on('error', () => resolve());
        response.on('data', (part: Buffer) => {
          text += part;
          if (text.includes('[DONE]')) request.destroy();
        });
      });
      request.end(JSON.stringify({ ...STREAM, messages: [] }));
    });
    const left = performance.now();
    t.equal(await (await world.provider.request(tries)).ended, 'broken');
    tookMs = performance.now() - left;
  }
  t.ok(tookMs < 1_000, `${Math.round(tookMs)} ms`);
  t.match(await lastCharge(world, accountId), { outcome: 'complete', credits: -11_000 });
});

test('usage that is reported before the model has written is not taken for the whole', async (t) => {
  const early = 'data: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":0}}\n\n';
  const world = await startGatewayInProcess(t, {
    behave: () => ({ headers: SSE, body: [early, SAID, DONE], breakAfter: 2 }),
  });
  const { key, accountId } = await world.account();
  await t.rejects((await world.chat(key, STREAM)).text());
  t.match(await lastCharge(world, accountId), {
    outcome: 'upstream_broke',
    estimated: true,
    usage: { input: 30, output: 2 },
  });
});

test('an error beside a last chunk is an error', async (t) => {
  const body = [
    SAID,
    'data: {"id":"x","error":{"code":"server_error","message":"Disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n',
    DONE,
  ];
  const world = await startGatewayInProcess(t, { behave: () => ({ headers: SSE, body }) });
  const { key, accountId } = await world.account();
  t.equal(await (await world.chat(key, STREAM)).text(), body.join(''));
  t.match(await lastCharge(world, accountId), { outcome: 'upstream_error', usage: { output: 2 } });
});
