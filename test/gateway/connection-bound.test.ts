import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Test, test } from 'tap';
import { clientNetwork } from '../../src/domain/addresses.ts';
import { boundConnections } from '../../src/gateway/connection-bound.ts';
import { FairPool } from '../../src/shares/fair-pool.ts';

const PLACES = 8;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

async function startServer(t: Test) {
  const places = new FairPool<string>({ places: { all: PLACES, ofOne: PLACES, spare: 1 } });
  const server = createServer((_request, response) => response.end());
  boundConnections(server, places);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Opens a connection from 127.0.0.`host`. Resolves when the gateway has it. */
  const open = async (host: number) => {
    const accepted = once(server, 'connection');
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${host}` });
    socket.on('error', () => {});
    await accepted;
    const ask = async () => {
      socket.write(GET);
      const [answer] = await once(socket, 'data');
      return String(answer).split(' ')[1];
    };
    return { socket, ask };
  };
  return { open, places };
}

test('idle connections from many addresses locked everybody out', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const { open, places } = await startServer(t);
  const used = await open(2);
  t.equal(await used.ask(), '200');
  const idle = [];
  for (let n = 1; n < PLACES; n++) idle.push(await open(2 + n));
  const [oldest, next] = idle;
  const cut = once(oldest?.socket.resume() ?? used.socket, 'close');
  t.equal(await (await open(100)).ask(), '200', 'a newcomer is served');
  await cut;
  t.equal(places.use.places, PLACES);
  t.equal(await used.ask(), '200', 'a connection that has carried a request stays');
  t.equal(await next?.ask(), '200', 'and so do those that have waited for less');
});

test('a client with an IPv6 network had a share for each of its addresses', (t) => {
  t.equal(clientNetwork('2001:db8:1:2:3:4:5:6'), clientNetwork('2001:db8:1:2::1'));
  t.not(clientNetwork('2001:db8:1:2::1'), clientNetwork('2001:db8:1:3::1'));
  t.equal(clientNetwork('::ffff:192.0.2.1'), clientNetwork('192.0.2.1'));
  t.not(clientNetwork('192.0.2.1'), clientNetwork('192.0.2.2'));
  t.equal(clientNetwork(''), '');
  t.end();
});
