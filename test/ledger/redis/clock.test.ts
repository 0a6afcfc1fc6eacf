import { pino } from 'pino';
import { test } from 'tap';
import { BucketOwners } from '../../../src/ledger/redis/bucket-owners.ts';
import { RedisClock } from '../../../src/ledger/redis/clock.ts';
import { connectRedis, createRedis, type RedisClient } from '../../../src/ledger/redis/connect.ts';
import { REDIS_TIMEOUT_MS, startRedis } from '../../helper/start/redis-process.ts';
import { startTcpProxy } from '../../helper/start/tcp-proxy.ts';

const log = pino({ level: 'silent' });

test('a node that only the calls’ connection reaches, as after a failover, gives its time', async (t) => {
  const redis = await startRedis(t);
  const address = { kind: 'single', url: redis.url } as const;
  const [calls, background] = ['calls', 'background'].map((name) =>
    createRedis(address, { name, keyPrefix: '', log }),
  ) as [RedisClient, RedisClient];
  t.teardown(() => calls.disconnect());
  await connectRedis(calls, 10_000);
  const clock = new RedisClock(background, new BucketOwners(calls));
  t.equal(clock.known(0), undefined);
  await clock.adjust(0);
  const now = Date.now.bind(Date);
  Date.now = () => now() + 3_600_000;
  t.teardown(() => {
    Date.now = now;
  });
  const [seconds] = await calls.time();
  t.ok(clock.now(0) < (Number(seconds) + 2) * 1_000, 'whatever the clock of this machine says');
});

test('a clock of Redis that was read over a slow line is not worse than it was before', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const client = createRedis(
    { kind: 'single', url: `redis://127.0.0.1:${proxy.port}` },
    { name: 'clock', keyPrefix: '', log, timeoutMs: REDIS_TIMEOUT_MS },
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
