import { test } from 'tap';
import { COMMAND_TIMEOUT_MS } from '../../src/ledger/redis/connect.ts';
import { bucketOf, holdsRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { admissionOf, openLedgerOn, startLedger } from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { REDIS_TIMEOUT_MS, startRedis } from '../helper/start/redis-process.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

/** Time for a reply; an admission may take 5/6 of it. */
const TIMEOUT_MS = 4_000;
/** Longer than that, shorter than a connection may be silent. */
const LATE_MS = 4_500;

test('an admission that comes to Redis after it was given up holds nothing, without anybody to release it', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const { book, open } = await openLedgerOn(
    t,
    { kind: 'single', url: `redis://127.0.0.1:${proxy.port}` },
    { redisTimeoutMs: TIMEOUT_MS },
  );
  const { key } = await accountOn(book, open.ledger, { credits: 10 });
  t.match(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'held' });
  await open.sweep.stop(0);
  const raw = await redis.connect();
  const holds = holdsRedisKey(bucketOf(key.accountId));
  const refusals = async () => Number(/cmdstat_time:calls=(\d+)/.exec(await raw.info('commandstats'))?.[1]);
  const before = await refusals();
  proxy.delay(LATE_MS);
  const late = admissionOf(key, 3);
  await t.rejects(open.ledger.admit(late), { message: 'no answer to an admission' });
  proxy.delay(0);
  await until('the admission to have come', async () => (await refusals()) > before);
  t.equal(await raw.hexists(holds, late.requestId), 0);
  t.equal(
    (await until('Redis to be back', () => open.ledger.account(key.accountId).catch(() => undefined))).held,
    1_000_000,
  );
});

test('where the clock of Redis has moved, calls are admitted all the same', async (t) => {
  const { open, account, raw } = await startLedger(t, { redisTimeoutMs: COMMAND_TIMEOUT_MS });
  const { key } = await account({ credits: 100 });
  for (const aheadMs of [-8_000, 8_000]) {
    // Acts as if the clocks of this machine and of Redis differed by this much.
    const now = performance.now.bind(performance);
    performance.now = () => now() + aheadMs;
    t.teardown(() => {
      performance.now = now;
    });
    t.match(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'held' });
    performance.now = now;
    t.match(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'held' });
  }
  t.equal(
    await raw.hlen(holdsRedisKey(bucketOf(key.accountId))),
    4 + 1,
    'with the marker of the first top-up',
  );
});

test('a Redis that took every call after a second was one that answered none: calls of a starved machine were 503', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const address = { kind: 'single', url: `redis://127.0.0.1:${proxy.port}` } as const;
  const { book, open } = await openLedgerOn(t, address, { redisTimeoutMs: REDIS_TIMEOUT_MS });
  const { key } = await accountOn(book, open.ledger, { credits: 10 });
  proxy.delay(1_500);
  t.match(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'held' });
  proxy.delay(0);
});

test('a call that Redis refused as late got 503; now it is sent again, as it took nothing', async (t) => {
  // Redis executes it within 7.9 s.
  const { open, account, raw } = await startLedger(t, { redisTimeoutMs: 9_500 });
  const { key } = await account({ credits: 10 });
  await open.ledger.admit(admissionOf(key, 1));
  // Acts as if the admission had traveled for 8 s.
  const now = performance.now.bind(performance);
  t.teardown(() => {
    performance.now = now;
  });
  const timesRead = async () => Number(/cmdstat_time:calls=(\d+)/.exec(await raw.info('commandstats'))?.[1]);
  const before = await timesRead();
  performance.now = () => now() - 8_000;
  const admitting = open.ledger.admit(admissionOf(key, 1));
  await new Promise((resolve) => setImmediate(resolve));
  performance.now = now;
  t.match(await admitting, { verdict: 'held' });
  t.ok((await timesRead()) >= before + 3, 'it was refused, the clock was read, and it asked again');
  t.equal(
    await raw.hlen(holdsRedisKey(bucketOf(key.accountId))),
    2 + 1,
    'with the marker of the first top-up',
  );
});
