import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'tap';
import { type Post, send } from '../../src/alerts/send.ts';

const post: Omit<Post, 'url' | 'timeoutMs'> = {
  headers: {},
  body: '{}',
  allowPrivateNetworks: true,
  signal: new AbortController().signal,
};
/** Four times the names and values of the longest head, and reads under way. */
const MOST_BYTES = 300 * 1024;

const MEBIBYTE = Buffer.alloc(1024 * 1024, 'a');
/** Writes without end, as fast as the other side reads. */
const flood = (socket: Socket, piece: string | Buffer) => {
  const fill = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', fill);
  fill();
};
const drip = (socket: Socket, piece: string) => {
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => clearInterval(timer));
};
const OK = 'HTTP/1.1 200 OK\r\n';

/** What each receiver does with a connection, and the result of the post. */
const RECEIVERS: Record<string, readonly [act: (socket: Socket) => void, status: string]> = {
  'takes the connection and says nothing': [() => {}, 'timeout'],
  'drips the status line': [(socket) => drip(socket, 'H'), 'failed'],
  'drips headers': [(socket) => socket.write(OK) && drip(socket, 'x-a: b\r\n'), 'timeout'],
  'floods headers': [(socket) => socket.write(OK) && flood(socket, 'x-a: b\r\n'.repeat(1_000)), 'failed'],
  'floods empty headers': [(socket) => socket.write(OK) && flood(socket, 'a:\r\n'.repeat(1_000)), 'failed'],
  'sends one header without an end': [
    (socket) => socket.write(`${OK}x-a: `) && flood(socket, MEBIBYTE),
    'failed',
  ],
  'drips interim answers': [(socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'), 'timeout'],
  'announces a gigabyte and sends it': [
    (socket) => socket.write(`${OK}Content-Length: 1073741824\r\n\r\n`) && flood(socket, MEBIBYTE),
    'delivered',
  ],
  'sends a gigabyte in chunks': [
    (socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n40000000\r\n`);
      flood(socket, MEBIBYTE);
    },
    'delivered',
  ],
  'sends bytes until it is closed, which it never is': [
    (socket) => socket.write(`${OK}\r\n`) && flood(socket, MEBIBYTE),
    'delivered',
  ],
  'drips a body': [
    (socket) => socket.write(`${OK}Content-Length: 100000\r\n\r\n`) && drip(socket, '.'),
    'delivered',
  ],
  'sends a body that grows when it is unpacked': [
    (socket) => socket.write(`${OK}Content-Encoding: gzip\r\n\r\n`) && flood(socket, MEBIBYTE),
    'delivered',
  ],
};

for (const [what, [act, status]] of Object.entries(RECEIVERS)) {
  test(`a receiver that ${what} costs no more than its time and 300 KiB`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => act(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const used: Socket[] = [];
    const note = (message: unknown) => used.push((message as { socket: Socket }).socket);
    diagnostics.subscribe('net.client.socket', note);
    t.teardown(() => diagnostics.unsubscribe('net.client.socket', note));

    const timeoutMs = 1_500;
    const { port } = server.address() as AddressInfo;
    const result = await send({ ...post, timeoutMs, url: `http://127.0.0.1:${port}/` });
    t.equal(result.status, status);
    t.equal(used.length, 1, 'one connection');
    t.ok(used[0]?.destroyed, 'which is closed');
    t.ok((used[0]?.bytesRead ?? Number.NaN) <= MOST_BYTES, `${used[0]?.bytesRead} bytes were read`);
  });
}
