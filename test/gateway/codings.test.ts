import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { test } from 'tap';
import type { Behavior } from '../helper/stand-ins/scripted-provider.ts';
import { lastCharge, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { mediaCatalog } from '../helper/start/media-gateway.ts';

const ANSWER = JSON.stringify({
  choices: [{ message: { role: 'assistant', content: 'Grüße' } }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const GZIP_TRAILER_BYTES = 8;
const withoutTrailer = (bytes: Buffer) => bytes.subarray(0, -GZIP_TRAILER_BYTES);
const bytewise = (bytes: Buffer) => Array.from(bytes, (byte) => Buffer.of(byte));

const JSON_TYPE = { 'content-type': 'application/json' };
/** A body, and the header that describes it, more or less rightly. */
const coded = (body: NonNullable<Behavior['body']>, coding?: string | string[]): Behavior => ({
  headers: coding === undefined ? JSON_TYPE : { ...JSON_TYPE, 'Content-Encoding': coding },
  body,
});

const CODED: Readonly<Record<string, Behavior>> = {
  'gzip, then br': coded(brotliCompressSync(gzipSync(ANSWER)), 'gzip, br'),
  'br, then gzip, in two headers': coded(gzipSync(brotliCompressSync(ANSWER)), ['br', 'GZIP']),
  'gzip, then nothing': coded(gzipSync(ANSWER), 'gzip, identity'),
  'gzip twice': coded(gzipSync(gzipSync(ANSWER)), 'gzip, gzip'),
  'gzip, declared twice': coded(gzipSync(ANSWER), 'gzip, gzip'),
  'br alone, declared as gzip and br': coded(brotliCompressSync(ANSWER), 'gzip, br'),
  'deflate with its frame, byte by byte': coded(bytewise(deflateSync(ANSWER)), 'deflate'),
  'deflate without its frame': coded(deflateRawSync(ANSWER), 'deflate'),
  'gzip that is not declared': coded(gzipSync(ANSWER)),
  'gzip that is not declared, byte by byte': coded(bytewise(gzipSync(ANSWER))),
  'gzip that is declared as text': coded(gzipSync(ANSWER), 'utf-8'),
  'gzip without its trailer': coded(withoutTrailer(gzipSync(ANSWER)), 'gzip'),
  'gzip without its trailer, then br': coded(
    brotliCompressSync(withoutTrailer(gzipSync(ANSWER))),
    'gzip, br',
  ),
  'gzip and then zeros': coded(Buffer.concat([gzipSync(ANSWER), Buffer.alloc(100)]), 'gzip'),
  'gzip that is declared and is not there': coded(ANSWER, 'gzip'),
  'zstd, with a name that is none': coded(zstdCompressSync(ANSWER), 'none, zstd'),
  'a name that is none': coded(ANSWER, 'UTF8'),
  'an empty name': coded(ANSWER, ''),
  identity: coded(ANSWER, 'identity'),
};

test('an answer is read and passed on decoded, however its coding is declared', async (t) => {
  let behavior: Behavior = {};
  const world = await startGatewayInProcess(t, { behave: () => behavior });
  const { key, accountId } = await world.account();
  for (const [name, answer] of Object.entries(CODED)) {
    behavior = answer;
    const response = await world.chat(key, { model: 'tokens' });
    t.equal(await response.text(), ANSWER, name);
    t.equal(response.headers.get('content-encoding'), null, name);
    t.match(
      await lastCharge(world, accountId),
      { credits: -120_000, estimated: false, outcome: 'complete' },
      name,
    );
  }
});

const EVENTS =
  'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}\n\ndata: [DONE]\n\n';

test('a stream that is gzip without saying so, or without a trailer, is charged by its usage', async (t) => {
  for (const [coding, body] of [
    [{}, gzipSync(EVENTS)],
    [{ 'content-encoding': 'gzip' }, withoutTrailer(gzipSync(EVENTS))],
  ] as const) {
    const headers = { 'content-type': 'text/event-stream', ...coding };
    const world = await startGatewayInProcess(t, { behave: () => ({ headers, body }) });
    const { key, accountId } = await world.account();
    const text = await (await world.chat(key, { model: 'tokens', stream: true })).text();
    t.match(text, /Hello.*\n\ndata: \[DONE\]\n\n$/s);
    t.match(await lastCharge(world, accountId), { credits: -120_000, estimated: false, outcome: 'complete' });
  }
});

test('an error that is gzip without saying so reaches the client in clear', async (t) => {
  const error = '{"error":{"message":"too long"}}';
  for (const status of [400, 503]) {
    const headers = { 'content-type': 'application/json' };
    const world = await startGatewayInProcess(t, {
      behave: () => ({ status, headers, body: gzipSync(error) }),
    });
    const response = await world.chat((await world.account()).key);
    t.same([response.status, await response.text()], [status, error]);
  }
});

test('sound that begins like gzip is sound, and declared gzip of it is broken without its trailer', async (t) => {
  const sound = gzipSync('sound');
  for (const [coding, body, heard] of [
    [{}, sound, sound],
    [{ 'content-encoding': 'gzip' }, gzipSync(sound), sound],
    [{ 'content-encoding': 'gzip' }, withoutTrailer(gzipSync(sound)), undefined],
  ] as const) {
    const headers = { 'content-type': 'audio/mpeg', ...coding };
    const behave = () => ({ headers, body });
    const world = await startGatewayInProcess(t, { behave });
    await world.replaceCatalog({ ...world.config, catalog: mediaCatalog(world.provider.url) });
    const { key } = await world.account();
    const response = await world.api('POST', '/v1/audio/speech', key, {
      model: 'voice',
      input: 'Hi',
      voice: 'a',
    });
    const bytes = await response.arrayBuffer().catch(() => undefined);
    t.same(response.ok && bytes ? Buffer.from(bytes) : undefined, heard);
  }
});
