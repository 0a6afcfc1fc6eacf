import { EventEmitter, once } from 'node:events';
import { test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import type { JournalEntry } from '../../../src/domain/ledger-entry.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { BUCKETS, bucketOf, journalRedisKey } from '../../../src/ledger/redis/redis-keys.ts';
import { rejection } from '../../helper/check/rejection.ts';
import { timerDelays } from '../../helper/check/timer-delays.ts';
import { until } from '../../helper/check/until.ts';
import { admissionOf, entriesOf, log, spend, startLedger } from '../../helper/start/ledger.ts';
import { accountOn } from '../../helper/start/ledger-account.ts';
import { REDIS_TIMEOUT_MS } from '../../helper/start/redis-process.ts';

/** More than one pass takes from a bucket. */
const MANY = 501;

test('concurrent drains do not resolve while Redis does not answer', async (t) => {
  const { open, raw, redis } = await startLedger(t, { ownRedis: true });
  raw.disconnect();
  await redis.stop();
  const asked = await Promise.allSettled([
    open.drain.drain(5),
    open.drain.drain(5),
    open.drain.drain(9),
    open.drain.drainAll(),
  ]);
  t.same(
    asked.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'rejected'],
  );
});

test('one drain takes all that its journal holds, however much', async (t) => {
  const { open, account, raw, second, book } = await startLedger(t);
  const other = await second();
  other.drain.abandon();
  const { account: owner, key } = await account({ credits: 1_000 });
  await open.settled();
  for (let call = 0; call < MANY; call++) await spend(other, admissionOf(key, 1), 1);
  await open.drain.drain(bucketOf(owner.id));
  t.equal(await raw.xlen(journalRedisKey(bucketOf(owner.id))), 0);
  t.match(await book.accounts(owner.id - 1, 1), [{ balance: (1_000 - MANY) * 1_000_000 }]);
});

test('a settle during a drain is drained after it', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const { account: owner, key } = await account({ credits: 1_000 });
  const draining = open.drain.drainAll();
  await spend(open, admissionOf(key, 1), 1);
  await draining;
  const name = journalRedisKey(bucketOf(owner.id));
  await until('an empty journal', async () => (await raw.xlen(name)) === 0);
  t.equal((await entriesOf(book, owner.id)).at(-1)?.type, 'charge');
});

test('entries of an account that cannot be rebuilt keep back none of those behind them', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const { account: owner, key } = await account({ credits: 1_000 });
  await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  const bucket = bucketOf(owner.id);
  // The book knows no such account, as after a restore.
  const stranger = owner.id + 1_000 * BUCKETS;
  const [last] = await entriesOf(book, owner.id);
  for (let seq = 1; seq <= MANY; seq++) {
    const entry = JSON.stringify({ ...last, id: `lost_${seq}`, accountId: stranger });
    await raw.xadd(journalRedisKey(bucket), '*', 'e', `${seq} 0 20000 1 0 ${entry}`);
  }
  const admission = admissionOf(key, 1);
  await spend(open, admission, 1);
  await open.drain.drain(bucket);
  t.equal((await entriesOf(book, owner.id)).at(-1)?.id, admission.requestId);
  t.equal(await raw.xlen(journalRedisKey(bucket)), MANY, 'and wait where they are');
});

test('an entry that cannot be read keeps back nothing else, and is counted', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const [first, second] = [await account(), await account()];
  await open.settled();
  const damaged = journalRedisKey(bucketOf(first.account.id));
  await raw.xadd(damaged, '*', 'e', '1 2 3 4 no entry');
  const admission = admissionOf(second.key, 1);
  await spend(open, admission, 1);
  const behind = admissionOf(first.key, 1);
  await spend(open, behind, 1);
  await open.settled();
  t.equal((await entriesOf(book, second.account.id)).at(-1)?.id, admission.requestId);
  t.equal(
    (await entriesOf(book, first.account.id)).at(-1)?.id,
    behind.requestId,
    'of its own bucket neither',
  );
  t.equal(open.drain.refused, 1);
  t.equal(await raw.xlen(damaged), 1, 'it is kept');
  await raw.del(damaged);
  await until('it to be counted no more', async () => open.drain.refused === 0);
});

test('a book that is back after a long time gets fresh entries immediately', async (t) => {
  const { book, open: other, redis, raw } = await startLedger(t);
  other.drain.abandon();
  const flaky = breakable(book);
  const open = await openLedger({
    address: { kind: 'socket', path: redis.socketPath },
    book: flaky.book,
    log,
    requestTimeoutMs: 60_000,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    onAlerts() {},
  });
  t.teardown(() => open.close(1_000));
  const { account: owner, key } = await accountOn(book, open.ledger, { credits: 1_000 });
  const bucket = bucketOf(owner.id);
  await open.drain.drain(bucket);
  flaky.away = true;
  await spend(open, admissionOf(key, 1), 1);
  for (let failed = 0; failed < 12; failed++) await rejection(open.drain.drain(bucket));
  // The next try comes by itself, and delays the one after it for as long as possible.
  await once(flaky.events, 'failed');
  flaky.away = false;
  await open.drain.drain(bucket);
  const delays = timerDelays(t);
  await spend(open, admissionOf(key, 1), 1);
  await until('an empty journal', async () => (await raw.xlen(journalRedisKey(bucket))) === 0);
  t.ok(delays.includes(100), 'a new try is due soon, not when the one that was put off is');
});

/** A book that can be unreachable for entries. */
function breakable(book: Book) {
  const events = new EventEmitter();
  const state = {
    events,
    away: false,
    book: new Proxy(book, {
      get(target, name: keyof Book) {
        if (name !== 'post') return target[name];
        return async (entries: readonly JournalEntry[]) => {
          if (!state.away) return await target.post(entries);
          events.emit('failed');
          throw new Error('the book is away');
        };
      },
    }),
  };
  return state;
}
