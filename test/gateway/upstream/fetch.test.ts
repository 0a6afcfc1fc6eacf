import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'tap';
import type { Upstream } from '../../../src/domain/catalog.ts';
import { fetchAnswer, wholeAnswer } from '../../../src/gateway/upstream/fetch.ts';
import { UpstreamTransport } from '../../../src/gateway/upstream/transport.ts';
import { testCatalog } from '../../helper/start/gateway-in-process.ts';

const BODY = '{"status":"queued"}';
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const MAX_BYTES = 4 * 1024 * 1024;

function answer(body: Buffer | string, headers = ''): Buffer {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

async function fetched(transport: UpstreamTransport, upstream: Upstream) {
  const place = { upstream, upstreamModel: 'm', path: '/v1/videos/1', endpoint: '/v1/videos' };
  const request = { ...place, method: 'GET', query: '', client: undefined } as const;
  return await wholeAnswer(await fetchAnswer(transport, request, new AbortController().signal));
}

test('an answer about a job is read whole, whatever its coding and what comes before it', async (t) => {
  const sockets = new Set<Socket>();
  let next: Buffer = Buffer.alloc(0);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', () => socket.write(next)).on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream = testCatalog(`http://127.0.0.1:${port}`).get('flat')?.upstream;
  if (!upstream) return t.fail('no upstream');
  const transport = new UpstreamTransport({ headersTimeoutMs: 60_000, idleTimeoutMs: 60_000 });
  t.teardown(async () => {
    await transport.close();
    server.close();
  });
  for (const [what, bytes, expected = BODY] of [
    ['plain', answer(BODY)],
    ['behind a 100 that nobody asked for', Buffer.concat([CONTINUE, answer(BODY)])],
    ['with a head of 60 KiB', answer(BODY, `X-A: ${'a'.repeat(60 * 1024)}\r\n`)],
    ['compressed without saying so', answer(gzipSync(BODY))],
    ['deflate', answer(deflateSync(BODY), 'Content-Encoding: deflate\r\n')],
    ['two codings', answer(gzipSync(brotliCompressSync(BODY)), 'Content-Encoding: br, gzip\r\n')],
    ['cut off', answer(gzipSync(BODY).subarray(0, -8), 'Content-Encoding: gzip\r\n')],
    ['a coding that was not applied', answer(BODY, 'Content-Encoding: gzip\r\n')],
    ['a coding that is none', answer(BODY, 'Content-Encoding: utf-8\r\n')],
    ['nothing, in a coding', answer('', 'Content-Encoding: br\r\n'), ''],
  ] as const) {
    next = bytes;
    const { status, headers, body } = await fetched(transport, upstream);
    t.same([status, body.toString(), headers['content-encoding']], [200, expected, undefined], what);
  }
  t.equal(sockets.size, 1, 'all on one connection');
  for (const [what, bytes] of [
    ['too large', answer(' '.repeat(MAX_BYTES + 1))],
    ['unfolds to too much', answer(gzipSync(' '.repeat(MAX_BYTES + 1)))],
    ['in an unknown coding', answer('x', 'Content-Encoding: compress\r\n')],
    ['a head over 64 KiB', answer(BODY, `X-A: ${'a'.repeat(65 * 1024)}\r\n`)],
  ] as const) {
    next = bytes;
    await t.rejects(fetched(transport, upstream), what);
  }
  next = answer(BODY);
  t.equal((await fetched(transport, upstream)).body.toString(), BODY, 'the next one is not affected');
});
