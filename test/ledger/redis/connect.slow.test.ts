import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { test } from 'tap';
import { connectRedis, createRedis } from '../../../src/ledger/redis/connect.ts';
import { startCluster } from '../../helper/start/redis-cluster.ts';
import { startRedis } from '../../helper/start/redis-process.ts';

/** Forwards connections to a port, and prints its own port. Its backlog is one connection. */
const RELAY = `
const { connect, createServer } = require('node:net');
const server = createServer((near) => {
  const far = connect(Number(process.argv[1]), '127.0.0.1');
  near.on('error', () => far.destroy()).pipe(far);
  far.on('error', () => near.destroy()).pipe(near);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));
`;

test('a first connection that takes too long is tried again, where a gateway ended with "can\'t be reached"', async (t) => {
  const redis = await startRedis(t);
  const relay = spawn(process.execPath, ['-e', RELAY, String(redis.port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => relay.kill('SIGKILL'));
  const [line] = await once(relay.stdout, 'data');
  const port = Number(line);
  // While it is paused, its one place and the one that the kernel adds are taken, and further connections get no
  // answer.
  relay.kill('SIGSTOP');
  const others = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  t.teardown(() => {
    for (const other of others) other.destroy();
  });
  await Promise.race(others.map((other) => once(other, 'connect')));
  const client = createRedis(
    { kind: 'single', url: `redis://127.0.0.1:${port}` },
    { name: 'calls', keyPrefix: '', log: pino({ level: 'silent' }) },
  );
  t.teardown(() => client.disconnect());
  const failed = new Promise<Error>((resolve) => client.once('error', resolve));
  const connected = connectRedis(client, 120_000);
  t.match(await failed, { message: 'connect ETIMEDOUT' });
  relay.kill('SIGCONT');
  await connected;
  t.equal(await client.ping(), 'PONG');
});

test('a cluster whose nodes take too long at first is asked again', async (t) => {
  const { nodes } = await startCluster(t, { nodeTimeoutMs: 30_000 });
  const client = createRedis(
    { kind: 'cluster', nodes: nodes.map(({ port }) => ({ host: '127.0.0.1', port })), auth: {} },
    { name: 'calls', keyPrefix: '', log: pino({ level: 'silent' }) },
  );
  t.teardown(() => client.disconnect());
  for (const node of nodes) node.freeze();
  const failed = new Promise<Error>((resolve) => client.once('error', resolve));
  const connected = connectRedis(client, 120_000);
  t.match(await failed, { message: 'Failed to refresh slots cache.', lastNodeError: { message: 'timeout' } });
  for (const node of nodes) node.thaw();
  await connected;
  t.equal(await client.get('nothing'), null);
});
