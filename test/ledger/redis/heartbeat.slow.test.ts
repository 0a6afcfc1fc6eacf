import { pino } from 'pino';
import { test } from 'tap';
import { Heartbeat } from '../../../src/ledger/lifecycle.ts';
import { connectRedis, createRedis } from '../../../src/ledger/redis/connect.ts';
import { startRedis } from '../../helper/start/redis-process.ts';
import { startTcpProxy } from '../../helper/start/tcp-proxy.ts';

test('the heartbeat alone replaces a connection whose replies are lost', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const client = createRedis(
    { kind: 'single', url: `redis://127.0.0.1:${proxy.port}` },
    { name: 'calls', keyPrefix: '', log: pino({ level: 'silent' }) },
  );
  t.teardown(() => client.disconnect());
  await connectRedis(client, 10_000);
  const heartbeat = new Heartbeat([client]);
  heartbeat.start();
  t.teardown(() => heartbeat.stop());
  const replaced = new Promise<void>((resolve) => client.once('ready', resolve));
  proxy.loseReplies();
  await replaced;
  t.equal(await client.ping(), 'PONG');
});
