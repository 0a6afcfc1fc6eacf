import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import { runOneAtATime } from '../../src/gateway/one-at-a-time.ts';
import { FairPool } from '../../src/shares/fair-pool.ts';
import { until } from '../helper/check/until.ts';
import { openRaw } from '../helper/clients/raw-http.ts';

const MIB = 1024 * 1024;

async function startServer(t: Test, handle: RequestListener, bytes = 8 * MIB) {
  const ahead = new FairPool<string>({ bytes: { all: bytes, ofOne: bytes } });
  const server = createServer(handle);
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    response.writeHead(417, { 'content-length': 0 }).end();
  });
  runOneAtATime(server, ahead);
  const connections: Socket[] = [];
  server.on('connection', (socket) => connections.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, ahead, connections };
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

test('pipelined requests were all begun before the first was answered', async (t) => {
  const begun: { path: string | undefined; answer: () => void }[] = [];
  const { url } = await startServer(t, ({ url: path }, response) => {
    begun.push({ path, answer: () => response.end(path) });
  });
  const connection = openRaw(url);
  const paths = ['/a', '/b', '/c', '/d'];
  connection.send(get('/a') + get('/b') + get('/x', 'Expect: 200-ok\r\n') + get('/c') + get('/d'));
  for (const [index, path] of paths.entries()) {
    await until('the next to begin', () => begun.length > index);
    t.equal(begun.length, index + 1, 'one at a time');
    if (path === '/c') t.equal((await connection.next())?.status, 417, 'in its turn');
    begun[index]?.answer();
    t.match(await connection.next(), { status: 200, body: path });
  }
  connection.socket.destroy();
});

test('a connection was read while its requests waited', async (t) => {
  const answers: ServerResponse[] = [];
  const { url, port, connections, ahead } = await startServer(t, ({ url: path }, response) => {
    if (path === '/held') answers.push(response);
    else response.end();
  });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(get('/held') + get('/'));
  await until('the first to begin', () => answers.length > 0);
  const { bytesRead } = connections[0] as Socket;
  socket.write(get('/').repeat((4 * MIB) / 28));
  for (let n = 0; n < 20; n++) t.equal((await fetch(url)).status, 200, 'another connection is served');
  const readAhead = (connections[0] as Socket).bytesRead - bytesRead;
  t.ok(readAhead <= 64 * 1024, `${readAhead} bytes`);
  socket.resume();
  answers[0]?.end();
  await until('more to be read', () => (connections[0] as Socket).bytesRead > bytesRead + 64 * 1024);
  socket.destroy();
  await until('its memory to be free', () => ahead.use.places === 0 && ahead.use.bytes === 0);
});

test('requests that are read ahead have a bound for all connections', async (t) => {
  const held: ServerResponse[] = [];
  const { url, ahead } = await startServer(t, (_request, response) => held.push(response), 20 * 1024);
  const one = openRaw(url);
  one.send(get('/').repeat(8));
  await until('some to wait', () => ahead.use.bytes > 0);
  const other = openRaw(url);
  other.send(get('/').repeat(8));
  t.equal(await other.closed, '', 'it is cut');
  t.equal(ahead.use.bytes, 7 * 2 * 1024);
  one.socket.destroy();
});

test('pipelined requests of every kind are answered in their order, each with its own body', async (t) => {
  const describe = async (request: IncomingMessage) => {
    const digest = createHash('sha256');
    for await (const chunk of request) digest.update(chunk);
    return `${request.url} ${digest.digest('hex')}`;
  };
  const { url } = await startServer(t, async (request, response) => {
    const text = await describe(request);
    // More than the connection takes at once.
    response.end(text.padEnd(request.url?.endsWith('7') ? 300_000 : 200));
  });
  const connection = openRaw(url);
  const expected: string[] = [];
  const send = (path: string, body: Buffer, framed: Buffer, framing: string) => {
    expected.push(`${path} ${createHash('sha256').update(body).digest('hex')}`);
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
    connection.send(framed);
  };
  for (let n = 0; n < 100; n++) {
    const body = randomBytes([0, 10, 3_000, 100_000][n % 4] ?? 0);
    if (n % 3 === 0) send(`/${n}`, body, body, `Content-Length: ${body.length}`);
    else if (n % 3 === 1) send(`/${n}`, Buffer.alloc(0), Buffer.alloc(0), 'Accept: */*');
    else {
      const chunk = body.length === 0 ? [] : [`${body.length.toString(16)}\r\n`, body, '\r\n'];
      const framed = Buffer.concat([...chunk, '0\r\n\r\n'].map((part) => Buffer.from(part)));
      send(`/${n}`, body, framed, 'Transfer-Encoding: chunked');
    }
  }
  for (const text of expected) t.equal((await connection.next())?.body.trim(), text);
  connection.socket.destroy();
});

test('a client that leaves while its requests wait leaves nothing behind', async (t) => {
  const held: ServerResponse[] = [];
  let begun = 0;
  const { url, ahead } = await startServer(t, (_request, response) => {
    begun++;
    held.push(response);
  });
  const connection = openRaw(url);
  connection.send(get('/').repeat(5));
  await until('the first to begin', () => begun === 1 && ahead.use.bytes > 0);
  connection.socket.resetAndDestroy();
  await connection.closed;
  held[0]?.end('x');
  await until('the memory to be free', () => ahead.use.places === 0);
  t.ok(begun <= 2, `${begun} begun`);
});
