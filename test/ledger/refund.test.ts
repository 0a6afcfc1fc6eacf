import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import type { EntryDraft } from '../../src/domain/ledger-entry.ts';
import { periodStarts } from '../../src/domain/period.ts';
import { RedisClock } from '../../src/ledger/redis/clock.ts';
import { holdsRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import {
  admissionOf,
  chargeOf,
  entriesOf,
  setAccountPeriods,
  spend,
  spentBy,
  startLedger,
  type TestLedger,
} from '../helper/start/ledger.ts';

const DAY_MS = 86_400_000;
const KEY = { spendingLimit: micro(100_000_000) };

/**
 * Charges 3 credits to an account with 10, at a time `agoMs` before now by Redis' clock. Resolves with the charge's id.
 */
async function charged(
  world: TestLedger,
  key: KeyRecord,
  { agoMs = 0, ...more }: Partial<EntryDraft> & { agoMs?: number } = {},
): Promise<string> {
  const admission = admissionOf(key, 3);
  const admitted = await world.open.ledger.admit(admission);
  if (admitted.verdict !== 'held') throw new Error(admitted.verdict);
  const { now } = RedisClock.prototype;
  RedisClock.prototype.now = function (bucket) {
    return now.call(this, bucket) - agoMs;
  };
  const sent = new Promise<void>((resolve) =>
    world.open.ledger.settle({ ...chargeOf(admission, 3), ...more }, resolve),
  );
  RedisClock.prototype.now = now;
  await sent;
  return admission.requestId;
}

async function refundedOnce(t: Test, { open, book }: TestLedger, { accountId }: KeyRecord, chargeId: string) {
  await open.settled();
  await open.settled();
  t.match(await open.ledger.account(accountId), { balance: 10_000_000, held: 0 });
  const entries = await entriesOf(book, accountId);
  t.same(entries.map(({ type, credits }) => [type, credits]).sort(), [
    ['charge', -3_000_000],
    ['refund', 3_000_000],
    ['top_up', 10_000_000],
  ]);
  t.ok(entries.some(({ id }) => id === `${chargeId}:refund`));
  t.equal(entries.at(-1)?.balanceAfter, 10_000_000);
}

test('of many refunds of a charge at two gateways, one is made', async (t) => {
  const world = await startLedger(t);
  const second = await world.second();
  const { key } = await world.account({ credits: 10, key: KEY });
  const id = await charged(world, key);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      (index % 2 ? world.open : second).refunds.refund(key.accountId, id),
    ),
  );
  await world.open.refunds.refund(key.accountId, id);
  await refundedOnce(t, world, key, id);
  t.equal(await spentBy(world.open.ledger, key, 'daily'), 0);
});

test('a refund that Redis has forgotten and the book has is not made again', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  const id = await charged(world, key);
  await world.open.refunds.refund(key.accountId, id);
  await world.open.settled();
  await world.raw.flushall();
  await world.open.refunds.refund(key.accountId, id);
  await refundedOnce(t, world, key, id);
});

test('a refund that was lost with Redis before the book had it is made again', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  const id = await charged(world, key);
  await world.open.settled();
  world.open.drain.abandon();
  await world.open.refunds.refund(key.accountId, id);
  t.equal((await world.open.ledger.account(key.accountId)).balance, 10_000_000);
  await world.raw.flushall();
  const second = await world.second();
  await second.refunds.refund(key.accountId, id);
  await refundedOnce(t, { ...world, open: second }, key, id);
});

test('a refund made before a rebuild and drained after it counts once, and so does its spend', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  const id = await charged(world, key);
  await world.open.settled();
  await world.open.refunds.refund(key.accountId, id);
  // As a rebuild at another gateway would, before the refund is drained.
  await world.book.snapshot(key.accountId, periodStarts(Date.now()));
  await world.open.settled();
  await world.open.refunds.refund(key.accountId, id);
  await refundedOnce(t, world, key, id);
  t.equal(await spentBy(world.open.ledger, key, 'monthly'), 0);
});

test('the book recognizes a repeat after the marker is forgotten', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  const id = await charged(world, key);
  await world.open.refunds.refund(key.accountId, id);
  await world.open.sweep.expireHolds(Date.now() + 2 * DAY_MS);
  t.equal(await world.raw.hexists(holdsRedisKey(key.accountId % 64), `${id}:refund`), 0);
  await world.open.refunds.refund(key.accountId, id);
  await refundedOnce(t, world, key, id);
});

test('yesterday’s charge makes no room for more spending today', async (t) => {
  await dayThatLasts();
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  await world.open.settled();
  // Live since yesterday; calls that end then are booked to it.
  const yesterday = periodStarts(Date.now() - DAY_MS);
  const { day, week, month } = yesterday;
  await world.raw.hset(keyRedisKey(key.accountId, key.id), { d: day, w: week, m: month });
  await setAccountPeriods(world.raw, key.accountId, yesterday);
  const id = await charged(world, key, { agoMs: DAY_MS });
  await spend(world.open, admissionOf(key, 1), 1);
  await world.open.settled();
  const spentOf = async () => {
    const fields = ['d', 'ds', 'ws', 'ms'] as const;
    const [start, day, week, month] = await world.raw.hmget(keyRedisKey(key.accountId, key.id), ...fields);
    return { start: Number(start), day: Number(day), week: Number(week), month: Number(month) };
  };
  const today = periodStarts(Date.now());
  const before = await spentOf();
  t.match(before, { start: today.day, day: 1_000_000 });
  await world.open.refunds.refund(key.accountId, id);
  const after = await spentOf();
  t.equal(after.day, 1_000_000, 'today is as it was');
  const isSame = { week: today.week < today.day, month: today.month < today.day };
  t.equal(after.week, before.week - (isSame.week ? 3_000_000 : 0));
  t.equal(after.month, before.month - (isSame.month ? 3_000_000 : 0));
  await world.open.settled();
  await world.raw.flushall();
  await world.open.ledger.account(key.accountId);
  t.same(await spentOf(), after, 'a rebuild from the book says the same');
  const days = await world.book.usage(key.accountId, today.day - 1, today.day + 1, 'day');
  t.same(
    days.map(({ calls, credits }) => [calls, credits]),
    [
      [1, 0],
      [1, 1_000_000],
    ],
  );
});

test('calls that were not charged or belong to another account are not refunded', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  const { key: other } = await world.account({ credits: 10, key: KEY });
  const id = await charged(world, key, { credits: micro(0) });
  const paid = await charged(world, other);
  for (const chargeId of [id, paid, 'req_none']) await world.open.refunds.refund(key.accountId, chargeId);
  await world.open.settled();
  t.equal((await world.open.ledger.account(key.accountId)).balance, 10_000_000);
  t.equal((await entriesOf(world.book, key.accountId)).length, 2);
  t.equal((await world.open.ledger.account(other.accountId)).balance, 7_000_000);
});

test('a charge that is still on its way is not passed over: who asks must ask again', async (t) => {
  const world = await startLedger(t);
  const { open } = world;
  const { key } = await world.account({ credits: 10, key: KEY });
  const admission = admissionOf(key, 3);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  await t.rejects(open.refunds.refund(key.accountId, admission.requestId), {
    message: 'the charge is not settled yet',
  });
  await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 3), resolve));
  await open.refunds.refund(key.accountId, admission.requestId);
  await refundedOnce(t, world, key, admission.requestId);
});

test('a charge of an epoch that ends in the book meanwhile is refunded all the same, once', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  await world.open.settled();
  const id = await charged(world, key);
  // As a rebuild at another gateway does that has not reached Redis yet.
  await world.book.snapshot(key.accountId, periodStarts(Date.now()));
  await world.open.refunds.refund(key.accountId, id);
  await world.open.settled();
  await world.open.refunds.refund(key.accountId, id);
  await refundedOnce(t, world, key, id);
});

test('a refund names the upstream of its charge, and takes its cost back', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, key: KEY });
  const listed = await charged(world, key, { upstream: 'films', cost: micro(2_500_000) });
  await world.open.refunds.refund(key.accountId, listed);
  await refundedOnce(t, world, key, listed);
  const refund = await world.book.entry(key.accountId, `${listed}:refund`);
  t.match(refund, { upstream: 'films', cost: -2_500_000, credits: 3_000_000 });
});
