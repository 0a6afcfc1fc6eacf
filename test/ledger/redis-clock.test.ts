import { pino } from 'pino';
import { test } from 'tap';
import { BucketOwners } from '../../src/ledger/redis/bucket-owners.ts';
import { RedisClock } from '../../src/ledger/redis/clock.ts';
import { connectRedis, createRedis } from '../../src/ledger/redis/connect.ts';
import { startRedis } from '../helper/redis-process.ts';
import { REDIS_TIMEOUT_MS } from '../helper/redis-timeout.ts';
import { startTcpProxy } from '../helper/tcp-proxy.ts';

test('a clock of Redis that was read over a slow line is not worse than it was before', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const client = createRedis(
    { kind: 'single', url: `redis://127.0.0.1:${proxy.port}` },
    { name: 'clock', keyPrefix: '', log: pino({ level: 'silent' }), timeoutMs: REDIS_TIMEOUT_MS },
  );
  t.teardown(() => client.disconnect());
  await connectRedis(client, 10_000);
  const clock = new RedisClock(client, new BucketOwners(client));
  await clock.adjust();
  const offset = () => clock.now() - performance.now();
  const before = offset();
  proxy.delay(300);
  await clock.adjust();
  t.ok(offset() > before - 100, 'the way back alone took 300 ms');
});
