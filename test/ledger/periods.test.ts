import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { type PeriodStarts, periodStart, periodStarts } from '../../src/domain/period.ts';
import { accountRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import {
  admissionOf,
  chargeOf,
  entriesOf,
  setAccountPeriods,
  spend,
  startLedger,
} from '../helper/start/ledger.ts';

const PERIODS = ['daily', 'weekly', 'monthly'] as const;
const CREDIT = 1_000_000;
/** Fields of the periods in a key's hash. */
const PERIOD_FIELDS = { daily: 'd', weekly: 'w', monthly: 'm' } as const;

/** A ledger with one key whose stored periods can be set; spends are credits. */
async function startPeriods(t: Test, period?: (typeof PERIODS)[number]) {
  const world = await startLedger(t);
  await dayThatLasts();
  const { key } = await world.account({
    credits: 10,
    key: period ? { spendingLimit: micro(3 * CREDIT), spendingPeriod: period } : {},
  });
  await world.open.settled();
  const name = keyRedisKey(key.accountId, key.id);
  return {
    ...world,
    key,
    async set(starts: PeriodStarts, spent: Partial<Record<(typeof PERIODS)[number], number>>) {
      for (const each of PERIODS) {
        const field = PERIOD_FIELDS[each];
        const fields = { [field]: periodStart(starts, each), [`${field}s`]: (spent[each] ?? 0) * CREDIT };
        await world.raw.hset(name, fields);
      }
    },
    async stored() {
      const fields = await world.raw.hmget(name, 'd', 'ds', 'w', 'ws', 'm', 'ms');
      return fields.map(Number);
    },
  };
}

for (const period of PERIODS) {
  test(`a ${period} limit counts spend in its own period, and only in the current one`, async (t) => {
    const { open, key, set } = await startPeriods(t, period);
    const now = periodStarts(Date.now());
    const admit = () => open.ledger.admit(admissionOf(key, 1));
    await set(now, { [period]: 2.5 });
    t.match(await admit(), { verdict: 'over_limit', spending: [{ spent: 2.5 * CREDIT }] });
    const before = { day: now.day - 1, week: now.week - 7, month: now.month - 28 };
    await set(before, { daily: 2.5, weekly: 2.5, monthly: 2.5 });
    t.match(await admit(), { verdict: 'held' }, 'what was spent before is no concern of it');
    const others = PERIODS.filter((other) => other !== period);
    await set(now, Object.fromEntries(others.map((other) => [other, 2.5])));
    t.match(await admit(), { verdict: 'held' }, 'nor is what another period holds');
  });
}

test('a charge is added to the current periods, and resets past ones', async (t) => {
  const { open, key, set, stored } = await startPeriods(t);
  const now = periodStarts(Date.now());
  const spend = async () => {
    const admission = admissionOf(key, 1);
    const admitted = await open.ledger.admit(admission);
    if (admitted.verdict !== 'held') throw new Error(admitted.verdict);
    open.ledger.settle(chargeOf(admission, 1), () => {});
    await open.settled();
  };
  await set({ ...now, day: now.day - 1 }, { daily: 5, weekly: 6, monthly: 7 });
  await spend();
  const [c, w, m] = [CREDIT, 7 * CREDIT, 8 * CREDIT];
  t.same(await stored(), [now.day, c, now.week, w, now.month, m]);
  await set({ ...now, week: now.week - 7, month: now.month - 28 }, { daily: 5, weekly: 6, monthly: 7 });
  await spend();
  t.same(await stored(), [now.day, 6 * CREDIT, now.week, CREDIT, now.month, CREDIT]);
});

test('a gateway whose clock is behind books on the day that has begun elsewhere', async (t) => {
  const { open, key, set, stored, book } = await startPeriods(t);
  const now = periodStarts(Date.now());
  const ahead = { day: now.day + 1, week: now.week + 7, month: now.month + 31 };
  await set(ahead, { daily: 1, weekly: 1, monthly: 1 });
  const admission = admissionOf(key, 1);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  open.ledger.settle(chargeOf(admission, 1), () => {});
  await open.settled();
  t.same(
    await stored(),
    [ahead.day, 2, ahead.week, 2, ahead.month, 2].map((n, i) => (i % 2 ? n * CREDIT : n)),
  );
  const [usage] = await book.usage(key.accountId, ahead.day, ahead.day + 1, 'key');
  t.match(usage, { calls: 1, credits: CREDIT });
  t.equal((await entriesOf(book, key.accountId)).length, 2);
});

test('a late charge of another key counts on the day that has begun for the account, live and rebuilt', async (t) => {
  const { open, key, raw, book } = await startPeriods(t);
  const now = periodStarts(Date.now());
  const ahead = { day: now.day + 1, week: now.week + 7, month: now.month + 31 };
  await setAccountPeriods(raw, key.accountId, ahead);
  await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  const { accountId, id } = key;
  const live = await open.ledger.windows(accountId, [id, 'account']);
  t.match(live, [
    { day: ahead.day, daySpent: CREDIT },
    { day: ahead.day, daySpent: CREDIT },
  ]);
  t.match(await book.usage(accountId, ahead.day, ahead.day + 1, 'key'), [{ credits: CREDIT }]);
  await raw.del(accountRedisKey(accountId));
  t.match(
    await open.ledger.windows(accountId, [id, 'account']),
    live.map(({ day, daySpent, hours }) => ({ day, daySpent, hours })),
  );
});
