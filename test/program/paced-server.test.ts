import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Test, test } from 'tap';
import { PatientRequest, paceServer } from '../../src/program/paced-server.ts';
import { LoopTurns } from '../../src/shares/loop-turns.ts';

/** Uses the processor for some milliseconds. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function startServer(t: Test, handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer({ IncomingMessage: PatientRequest }, handle);
  paceServer(server, new LoopTurns());
  server.listen(0, '127.0.0.1', 1_000);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  /** Opens a connection and sends a request with this credential. */
  const send = (credential: string, body = '') => {
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    const head = `Host: x\r\nAuthorization: ${credential}\r\nContent-Length: ${body.length || 2}`;
    socket.write(`POST / HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    return socket;
  };
  return send;
}

test('a connection behind a burst of others waited for as many turns full of their work', async (t) => {
  let crowd = 0;
  const isServed = Promise.withResolvers<number>();
  const send = await startServer(t, (request) => {
    if (request.headers.authorization === 'other') isServed.resolve(crowd);
    else {
      crowd++;
      work(5);
    }
  });
  for (let i = 0; i < 150; i++) send('crowd');
  send('other');
  const before = await isServed.promise;
  t.ok(before < 75, `${before} of 150 requests of the crowd began first`);
});

test('a request that waits for its turn keeps one piece of its body, and gives all of it when it is read', async (t) => {
  const body = 'x'.repeat(3_000_000);
  const { promise, resolve } = Promise.withResolvers<[number, number]>();
  const send = await startServer(t, (request) => {
    // Time for more than one turn of the loop, in which more would be read.
    setTimeout(() => {
      const kept = request.readableLength;
      let length = 0;
      request.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      request.on('end', () => resolve([kept, length]));
    }, 50);
  });
  send('anyone', body);
  const [kept, length] = await promise;
  t.ok(kept <= 64 * 1024, `${kept} bytes`);
  t.equal(length, body.length);
});
