import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import type { Admission } from '../../src/ledger/ledger.ts';
import { accountRedisKey, bucketOf, holdsRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import {
  admissionOf,
  chargeOf,
  entriesOf,
  spend,
  startLedger,
  type TestLedger,
} from '../helper/start/ledger.ts';

const CREDIT = 1_000_000;

/** An admission with hold and estimate in credits. */
function call(key: KeyRecord, hold: number, estimate: number, more: Partial<Admission> = {}): Admission {
  return admissionOf(key, hold, { estimate: micro(Math.round(estimate * CREDIT)), ...more });
}

function settled({ open }: Pick<TestLedger, 'open'>, admission: Admission, credits: number) {
  return new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, credits), resolve));
}

/** What the account and the key have reserved, and what Redis has for both, in credits. */
async function reservedOf({ open }: Pick<TestLedger, 'open'>, { accountId, id }: KeyRecord) {
  const account = await open.ledger.account(accountId);
  const key = await open.ledger.reserved(accountId, id);
  return [account.held, account.estimated, key.held, key.estimated].map((amount) => amount / CREDIT);
}

async function isHeld(t: Test, { open }: Pick<TestLedger, 'open'>, admission: Admission): Promise<void> {
  t.match(await open.ledger.admit(admission), { verdict: 'held' });
}

test('holds may exceed the balance by the overdraft only', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, overdraft: 5 });
  await isHeld(t, world, call(key, 8, 2));
  await isHeld(t, world, call(key, 7, 2));
  t.same(
    await world.open.ledger.admit(call(key, 0.000001, 0)),
    {
      verdict: 'insufficient',
      balance: 10 * CREDIT,
      held: 15 * CREDIT,
      estimated: 4 * CREDIT,
      overdraft: 5 * CREDIT,
    },
    'a micro-credit more',
  );
  t.same(await reservedOf(world, key), [15, 4, 15, 4]);
});

test('the balance covers the estimates, with any overdraft', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, overdraft: 1_000 });
  await isHeld(t, world, call(key, 50, 6));
  t.match(await world.open.ledger.admit(call(key, 4.1, 4.1)), {
    verdict: 'insufficient',
    estimated: 6 * CREDIT,
  });
  await isHeld(t, world, call(key, 50, 4));
  t.same(await reservedOf(world, key), [100, 10, 100, 10]);
});

test('with an overdraft of 0 the holds decide, with any estimates', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({
    credits: 10,
    key: { spendingLimit: micro(9 * CREDIT), spendingPeriod: 'daily' },
  });
  await isHeld(t, world, call(key, 8, 0));
  t.match(await world.open.ledger.admit(call(key, 1.1, 0)), {
    verdict: 'over_limit',
    spending: [{ held: 8 * CREDIT }],
  });
  const unlimited = { spendingLimits: [] };
  t.match(await world.open.ledger.admit(call(key, 2.1, 0, unlimited)), { verdict: 'insufficient' });
  await isHeld(t, world, call(key, 2, 0, unlimited));
});

async function hoursOf(
  { open }: Pick<TestLedger, 'open'>,
  { accountId, id }: KeyRecord,
): Promise<number | undefined> {
  const [windows] = await open.ledger.windows(accountId, [id]);
  return windows?.hours;
}

test('a spending limit covers spend and estimates, and with the overdraft the holds', async (t) => {
  await dayThatLasts();
  const world = await startLedger(t);
  const limits = { spendingLimit: micro(4 * CREDIT), spendingPeriod: 'weekly' } as const;
  const { key } = await world.account({ credits: 100, overdraft: 5, key: limits });
  t.equal(await spend(world.open, call(key, 1, 1), 1), 'held');
  await isHeld(t, world, call(key, 6, 1));
  t.same(await world.open.ledger.admit(call(key, 2.000001, 1)), {
    verdict: 'over_limit',
    spending: [
      {
        of: 'key',
        period: 'weekly',
        credits: 4 * CREDIT,
        spent: CREDIT,
        held: 6 * CREDIT,
        estimated: CREDIT,
        hours: await hoursOf(world, key),
      },
    ],
    account: { balance: 99 * CREDIT, held: 6 * CREDIT, estimated: CREDIT, overdraft: 5 * CREDIT },
  });
  t.match(await world.open.ledger.admit(call(key, 2.000001, 2.000001)), { verdict: 'over_limit' });
  await isHeld(t, world, call(key, 2, 2));
  t.match(await world.open.ledger.admit(call(key, 0.000001, 0)), { verdict: 'over_limit' });
});

test('an estimate above its hold counts as the hold', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10, overdraft: 5 });
  const admission = call(key, 3, 1_000);
  await isHeld(t, world, admission);
  t.same(await reservedOf(world, key), [3, 3, 3, 3]);
  await settled(world, admission, 3);
  t.same(await reservedOf(world, key), [0, 0, 0, 0]);
});

test('settle, cancel and expire release both sums', async (t) => {
  const world = await startLedger(t);
  const { open, account, book } = world;
  const { key } = await account({ credits: 10, overdraft: 20 });
  const [ended, cancelled, expired] = [call(key, 5, 1), call(key, 6, 2), call(key, 7, 3)];
  await isHeld(t, world, ended);
  await isHeld(t, world, cancelled);
  await isHeld(t, world, expired);
  t.same(await reservedOf(world, key), [18, 6, 18, 6]);
  await settled(world, ended, 0.5);
  t.same(await reservedOf(world, key), [13, 5, 13, 5]);
  open.unanswered.add(cancelled);
  await open.sweep.cancelUnanswered();
  t.same(await reservedOf(world, key), [7, 3, 7, 3]);
  await open.sweep.expireHolds(Date.now() + 24 * 3_600_000);
  t.same(await reservedOf(world, key), [0, 0, 0, 0]);
  await open.settled();
  const [, , row] = await entriesOf(book, key.accountId);
  t.match(row, { type: 'expired_hold', category: 'text', endpoint: '/v1/chat/completions', model: 'flat' });
});

test('a call without a hold can be cancelled', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const free = admissionOf(key, 0);
  t.match(await open.ledger.admit(free), { verdict: 'held' });
  open.unanswered.add(free);
  await open.sweep.cancelUnanswered();
  t.equal(await raw.hexists(holdsRedisKey(bucketOf(key.accountId)), free.requestId), 0);
});

test('a charge above its estimate takes the balance below 0, to the overdraft at most', async (t) => {
  const world = await startLedger(t);
  const { open, account, book } = world;
  const { key } = await account({ credits: 1, overdraft: 5 });
  const admissions = [call(key, 3, 0.5), call(key, 3, 0.5)];
  for (const admission of admissions) {
    await isHeld(t, world, admission);
    await settled(world, admission, 3);
    const { balance } = await open.ledger.account(key.accountId);
    if (balance < 0) break;
  }
  t.match(await open.ledger.account(key.accountId), { balance: -2 * CREDIT, held: 0, estimated: 0 });
  t.match(await open.ledger.admit(call(key, 1, 0)), { verdict: 'insufficient', balance: -2 * CREDIT });
  await open.settled();
  t.equal((await entriesOf(book, key.accountId)).at(-1)?.balanceAfter, -2 * CREDIT);
});

test('a rebuild while calls are open keeps both sums and the overdraft', async (t) => {
  const world = await startLedger(t);
  const { open, account, raw } = world;
  const { key } = await account({ credits: 10, overdraft: 5 });
  const admission = call(key, 8, 1);
  await isHeld(t, world, admission);
  await isHeld(t, world, call(key, 6, 2));
  await open.settled();
  await raw.del(accountRedisKey(key.accountId), keyRedisKey(key.accountId, key.id));
  t.match(await open.ledger.admit(call(key, 1.1, 1)), {
    verdict: 'insufficient',
    held: 14 * CREDIT,
    estimated: 3 * CREDIT,
    overdraft: 5 * CREDIT,
  });
  t.same(await reservedOf(world, key), [14, 3, 14, 3]);
  await settled(world, admission, 1);
  await open.settled();
  t.same(await reservedOf(world, key), [6, 2, 6, 2]);
  await isHeld(t, world, call(key, 8, 7));
});

test('a changed overdraft holds from the next call on', async (t) => {
  const world = await startLedger(t);
  const { open, account, book } = world;
  const { key } = await account({ credits: 1 });
  t.match(await open.ledger.admit(call(key, 3, 1)), { verdict: 'insufficient', overdraft: 0 });
  const changed = await book.updateAccount(key.accountId, { overdraft: micro(2 * CREDIT) }, Date.now());
  if (!changed) return t.fail('no account');
  await open.ledger.publishAccount(changed);
  const { version } = changed;
  t.match(await open.ledger.admit(call(key, 3, 1)), { verdict: 'stale' });
  await isHeld(t, world, call(key, 3, 1, { accountVersion: version }));
});

test('sums stay exact where balance and overdraft together are more than a number holds', async (t) => {
  const world = await startLedger(t);
  const all = 8_500_000_000;
  const { key } = await world.account({
    credits: all,
    overdraft: all,
    key: { spendingLimit: micro(all * CREDIT), spendingPeriod: 'monthly' },
  });
  await isHeld(t, world, call(key, all, 0.000001));
  await isHeld(t, world, call(key, 507_199_254.740991, 0.000001));
  t.match(
    await world.open.ledger.admit(call(key, 0.000001, 0)),
    { verdict: 'insufficient', held: Number.MAX_SAFE_INTEGER, estimated: 2 },
    'holds beyond 2^53 - 1 could not be counted',
  );
});
