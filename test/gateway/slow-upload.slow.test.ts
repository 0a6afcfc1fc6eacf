import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'tap';
import { ConnectionRefuser } from '../../src/gateway/refuse.ts';

test('an upload that is too slow gets 408 and is cut, though its client goes on sending', async (t) => {
  const server = createServer({ requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 20 });
  const connections = new ConnectionRefuser();
  server.on('request', connections.note);
  server.on('clientError', (error, socket) => connections.refuse(error, socket as Socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const broken = Promise.withResolvers<void>();
  server.on('request', (message: IncomingMessage) => {
    message.on('error', () => broken.resolve()).resume();
  });
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  client.on('error', () => {});
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
  const sending = setInterval(() => client.write('x'), 20);
  t.teardown(() => clearInterval(sending));
  let answer = '';
  const told = Promise.withResolvers<void>();
  client.on('data', (chunk) => {
    answer += chunk;
    if (answer.endsWith('}')) told.resolve();
  });
  await Promise.all([broken.promise, told.promise]);
  t.match(answer, /^HTTP\/1\.1 408 .*request_timeout/s);
  client.destroy();
});
