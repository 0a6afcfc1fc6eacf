import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { test } from 'tap';
import { keptBytes } from '../helper/check/kept-bytes.ts';
import { lastCharge, startGatewayInProcess, testConfig } from '../helper/start/gateway-in-process.ts';

const ANSWER = JSON.stringify({
  choices: [{ message: { role: 'assistant', content: 'Grüße' } }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const ENCODERS = {
  gzip: gzipSync,
  'X-Gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

/** Each part is flushed, so that everything up to it can be decompressed, as streaming servers do. */
async function gzipParts(parts: readonly string[]): Promise<Buffer[]> {
  const gzip = createGzip();
  const out: Buffer[] = [];
  for (const part of parts) {
    gzip.write(part);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    out.push(gzip.read() as Buffer);
  }
  // The end of the body. Without it, data that arrives together with the end of the connection is lost.
  gzip.end();
  return [...out, Buffer.concat(await gzip.toArray())];
}

for (const [encoding, encode] of Object.entries(ENCODERS)) {
  test(`an answer compressed with ${encoding}, unasked, is charged by its usage and passed on decoded`, async (t) => {
    const world = await startGatewayInProcess(t, {
      behave: () => ({
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        body: encode(ANSWER),
      }),
    });
    const { key, accountId } = await world.account();
    const response = await world.chat(key, { model: 'tokens' });
    t.equal(response.headers.get('content-encoding'), null);
    t.equal(response.headers.get('x-tollgate-charge'), '0.120000');
    t.equal(await response.text(), ANSWER);
    t.match(await lastCharge(world, accountId), { credits: -120_000, estimated: false, outcome: 'complete' });
    t.equal((await world.provider.request(0)).headers['accept-encoding'], 'identity');
  });
}

const EVENTS = [
  'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}\n\n',
  'data: {"choices":[{"index":0,"delta":{"content":" there"},"finish_reason":"stop"}],"usage":null}\n\n',
  'data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}\n\n',
  'data: [DONE]\n\n',
];
const SSE = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' };
const STREAM = { model: 'tokens', stream: true };

test('a compressed stream passes event by event, and shows no trace of the usage that was not asked for', async (t) => {
  const body = await gzipParts(EVENTS);
  const world = await startGatewayInProcess(t, {
    behave: () => ({ headers: SSE, body, intervalMs: 20 }),
  });
  const { key, accountId } = await world.account();
  const response = await world.chat(key, STREAM);
  let text = '';
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString();
  }
  t.notMatch(text, 'usage');
  t.match(text, /Hello[\s\S]* there[\s\S]*data: \[DONE\]\n\n$/);
  t.match(await lastCharge(world, accountId), { credits: -120_000, estimated: false, outcome: 'complete' });
});

test('a compressed stream that breaks off is broken for the client, and the part that came is charged', async (t) => {
  const body = await gzipParts(EVENTS);
  for (const behavior of [
    { headers: SSE, body, breakAfter: 1 },
    // The compressed data ends in the middle, though the connection ends cleanly.
    { headers: SSE, body: body.slice(0, 1) },
  ]) {
    const world = await startGatewayInProcess(t, { behave: () => behavior });
    const { key, accountId } = await world.account();
    await t.rejects((await world.chat(key, STREAM)).text());
    const entry = await lastCharge(world, accountId);
    t.match(entry, { outcome: 'upstream_broke', estimated: true, status: 200, usage: { output: 1 } });
    t.equal((await world.ledger.ledger.account(accountId)).held, 0);
  }
});

test('an answer that does not decode gives 502 at charge 0', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => ({
      headers: { 'content-type': 'application/json', 'content-encoding': 'br' },
      body: ANSWER,
    }),
  });
  const { key, accountId } = await world.account();
  t.equal((await world.chat(key, { model: 'tokens' })).status, 502);
  t.match(await lastCharge(world, accountId), { outcome: 'upstream_broke', credits: 0 });
});

test('an encoding that is not readable gives 502, but an error passes unchanged', async (t) => {
  for (const [status, answered, code] of [
    [200, 502, 'upstream_unavailable'],
    [429, 429, undefined],
  ] as const) {
    const world = await startGatewayInProcess(t, {
      behave: () => ({
        status,
        headers: { 'content-type': 'application/json', 'content-encoding': 'compress' },
        body: '{"error":{}}',
      }),
    });
    const { key, accountId } = await world.account();
    const response = await world.chat(key, { model: 'tokens' });
    t.equal(response.status, answered);
    t.equal(response.headers.get('content-encoding'), code ? null : 'compress');
    t.equal(((await response.json()) as { error: { code?: string } }).error.code, code);
    t.match(await lastCharge(world, accountId), { outcome: 'upstream_error', credits: 0 });
  }
});

test('a small answer that unfolds to a large one passes with back-pressure, and is held in memory nowhere', async (t) => {
  const spaces = 200;
  // Made before the gateway starts, because the gateway shares this process and could not answer Redis meanwhile. A
  // file of several gzip members is one text.
  const megabyte = gzipSync(' '.repeat(1_000_000));
  const body = Buffer.concat([...Array.from({ length: spaces }, () => megabyte), gzipSync(ANSWER)]);
  const world = await startGatewayInProcess(t, {
    behave: () => ({
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body,
    }),
    // A busy machine takes more than a minute for 200 MB.
    config: { limits: { ...testConfig('', '').limits, requestTimeoutMs: 600_000, idleTimeoutMs: 60_000 } },
  });
  const { key, accountId } = await world.account();
  const before = keptBytes();
  const response = await world.chat(key, { model: 'tokens' });
  let bytes = 0;
  let most = 0;
  let next = 0;
  for await (const part of response.body ?? []) {
    bytes += (part as Uint8Array).length;
    if (bytes < next) continue;
    next = bytes + 25_000_000;
    most = Math.max(most, keptBytes() - before);
  }
  t.equal(bytes, spaces * 1_000_000 + Buffer.byteLength(ANSWER));
  t.comment(`${most} bytes more`);
  t.ok(most < 50_000_000, `${most} bytes more`);
  t.match(await lastCharge(world, accountId), { credits: -120_000, estimated: false });
});

test('a compressed stream goes on after its client was slower than it', async (t) => {
  const [hello = '', ...rest] = EVENTS;
  const body = gzipSync([hello.repeat(300_000), ...rest].join(''));
  const world = await startGatewayInProcess(t, { behave: () => ({ headers: SSE, body }) });
  const { key, accountId } = await world.account();
  const call = request(`${world.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  call.end(JSON.stringify({ ...STREAM, messages: [] }));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  // By then the buffers between the two are full; only further reads ask for more.
  await pause(1_000);
  let hellos = 0;
  let cut = '';
  for await (const part of response.setEncoding('latin1')) {
    const pieces = (cut + part).split('"Hello"');
    hellos += pieces.length - 1;
    // A part may end within the next one.
    cut = pieces.at(-1)?.slice(-6) ?? '';
  }
  t.equal(hellos, 300_000);
  t.match(await lastCharge(world, accountId), { outcome: 'complete', credits: -120_000 });
});
