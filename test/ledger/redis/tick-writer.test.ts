import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { test } from 'tap';
import { TickWriter } from '../../../src/ledger/redis/tick-writer.ts';

test('commands that wait for a write go on once a slow server has read them', async (t) => {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(near, 'connect');
  const [far] = await accepted;
  t.teardown(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  // Little by little, so that the kernel's buffer is full and the stream's is not; the stream would report room by
  // itself.
  while (near.writableLength === 0) near.write(Buffer.alloc(1_024));
  t.equal(near.writableNeedDrain, false);

  const writer = new TickWriter({ stream: near } as unknown as Redis);
  writer.open();
  near.write('settle');
  let isWritten = false;
  const written = new Promise<void>((resolve) =>
    writer.afterWrite(() => {
      isWritten = true;
      resolve();
    }),
  );
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  t.equal(isWritten, false, 'not before it is on the wire');
  far.resume();
  await written;
});

test('commands that wait for a write go on when the connection ends', async (t) => {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(near, 'connect');
  t.teardown(() => server.close());
  near.on('error', () => {});
  while (near.writableLength === 0) near.write(Buffer.alloc(1_024));
  const writer = new TickWriter({ stream: near } as unknown as Redis);
  const written = new Promise<void>((resolve) => writer.afterWrite(resolve));
  setImmediate(() => setImmediate(() => near.destroy()));
  await written;
  t.pass('it did');
});
