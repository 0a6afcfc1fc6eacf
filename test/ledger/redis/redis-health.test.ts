import type { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import { parseRedisUrl } from '../../../src/config/redis-url.ts';
import { BucketOwners } from '../../../src/ledger/redis/bucket-owners.ts';
import { connectRedis, createRedis } from '../../../src/ledger/redis/connect.ts';
import { RedisHealth, UnusableRedis } from '../../../src/ledger/redis/redis-health.ts';
import type { Log } from '../../../src/log/log.ts';
import { rejection } from '../../helper/check/rejection.ts';
import { until } from '../../helper/check/until.ts';
import { log } from '../../helper/start/ledger.ts';
import { freePort, type RedisProcess, startRedis } from '../../helper/start/redis-process.ts';

/** Health of a Redis through a connection of its own; a report is new for each. */
async function healthOf(t: Test, url: string, more: Partial<Log> = {}) {
  const client = createRedis(parseRedisUrl(url), { name: 'test', keyPrefix: 'book:', log });
  t.teardown(() => client.disconnect());
  await connectRedis(client, 10_000);
  return new RedisHealth(client, new BucketOwners(client), { ...SILENT, ...more });
}

const ignore = () => {};
const SILENT: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const HEALTHY = { ok: true, faults: [], durabilityFaults: [] };

/** States in which a Redis answers PING and takes no write, with the way back. */
const STATES: readonly {
  readonly name: string;
  readonly fault: RegExp;
  readonly break: (raw: Redis) => Promise<unknown>;
  readonly mend: (raw: Redis) => Promise<unknown>;
}[] = [
  {
    name: 'a replica',
    fault: /is a replica and takes no writes/,
    break: async (raw) => raw.replicaof('127.0.0.1', await freePort()),
    mend: (raw) => raw.replicaof('NO', 'ONE'),
  },
  {
    name: 'full',
    fault: /is full/,
    break: (raw) => raw.config('SET', 'maxmemory', '1'),
    mend: (raw) => raw.config('SET', 'maxmemory', '0'),
  },
  {
    name: 'without enough replicas',
    fault: /min-replicas-to-write/,
    break: (raw) => raw.config('SET', 'min-replicas-to-write', '1'),
    mend: (raw) => raw.config('SET', 'min-replicas-to-write', '0'),
  },
];

for (const state of STATES) {
  test(`a Redis that is ${state.name} was ready while every call got 503`, async (t) => {
    const redis = await startRedis(t);
    const raw = await redis.connect();
    t.same(await (await healthOf(t, redis.url)).report(), HEALTHY);
    await state.break(raw);
    const { ok, faults } = await (await healthOf(t, redis.url)).report();
    t.equal(ok, false);
    t.equal(faults.length, 1);
    t.match(faults[0], state.fault);
    await state.mend(raw);
    t.same(await (await healthOf(t, redis.url)).report(), HEALTHY);
    t.same(await raw.keys('*'), [], 'trying leaves nothing');
  });
}

test('the log names a node that takes no writes once, and says once that it is back', async (t) => {
  const redis = await startRedis(t);
  const raw = await redis.connect();
  const lines: string[] = [];
  const note = (line: object, text: string) => lines.push(`${JSON.stringify(line)} ${text}`);
  const health = await healthOf(t, redis.url, { error: note, info: note });
  await raw.config('SET', 'maxmemory', '1');
  await until('the node to be found full', async () => !(await health.report()).ok);
  const found = await health.report();
  await until('another probe', async () => (await health.report()) !== found);
  await raw.config('SET', 'maxmemory', '0');
  await until('the node to be back', async () => (await health.report()).ok);
  t.equal(lines.length, 2);
  t.match(lines[0], /"redis":"redis","reason":".*OOM.* redis takes no writes: Redis is full/);
  t.match(lines[1], /"redis":"redis".* redis is back/);
});

async function refusalOf(t: Test, redis: RedisProcess, user = '', path = ''): Promise<string> {
  const health = await healthOf(t, redis.url.replace('://', `://${user}`) + path);
  const error = (await rejection(health.requireUsable())) as Error;
  t.type(error, UnusableRedis);
  t.notMatch(error.message, '\n', 'one line');
  return error.message;
}

test('a start on a replica, a missing database, or without scripts is refused', async (t) => {
  const redis = await startRedis(t);
  const raw = await redis.connect();
  t.match(await refusalOf(t, redis, '', '/99'), /database 99.*out of range/);
  await raw.call('ACL', 'SETUSER', 'weak', 'on', '>pw', '~*', '&*', '+@all', '-@scripting');
  t.match(await refusalOf(t, redis, 'weak:pw@'), /runs? no scripts.*eval/i);
  await raw.replicaof('127.0.0.1', await freePort());
  t.match(await refusalOf(t, redis), /replica.*REDIS_URL.*READONLY/);
});

test('a user who may not run INFO is named, and not taken for a Redis that is away', async (t) => {
  const redis = await startRedis(t);
  const raw = await redis.connect();
  await raw.call('ACL', 'SETUSER', 'weak', 'on', '>pw', '~*', '&*', '+@all', '-info');
  const health = await healthOf(t, redis.url.replace('://', '://weak:pw@'));
  await health.requireUsable();
  t.match(await health.report(), { ok: true, faults: [], durabilityFaults: [/may not run INFO.*\+info/] });
});
