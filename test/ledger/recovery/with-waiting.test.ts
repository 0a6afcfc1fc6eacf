import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import type { AccountSnapshot } from '../../../src/book/snapshot.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { KeyRecord } from '../../../src/domain/key.ts';
import { periodStarts } from '../../../src/domain/period.ts';
import { FIVE_HOURS_MS, NO_WINDOWS, type Windows } from '../../../src/domain/spending-limits.ts';
import { withUndrained } from '../../../src/ledger/recovery/rebuild.ts';
import { entries, entry, newKey, stored } from '../../helper/fixtures/book-records.ts';
import { eachBook } from '../../helper/start/books.ts';
import fc from '../../helper/suite/fast-check.ts';

const DAY_MS = 86_400_000;
/** A Wednesday in the middle of its month. */
const NOW = Date.UTC(2026, 10, 18, 12);
const STARTS = periodStarts(NOW);
const HUGE = 8_000_000_000_000_000;

function windows(day: number, week: number, month: number): Windows {
  return {
    ...NO_WINDOWS,
    ...STARTS,
    daySpent: micro(day),
    weekSpent: micro(week),
    monthSpent: micro(month),
    totalSpent: micro(100),
    hours: NOW,
    hoursSpent: micro(5),
  };
}

const SNAPSHOT = {
  balance: micro(100),
  seq: 7,
  known: new Set(['booked']),
  keys: [
    { key: { id: 3, personId: 7 } as KeyRecord, windows: windows(10, 20, 30) },
    { key: { id: 4, personId: null } as KeyRecord, windows: windows(1, 1, 1) },
  ],
  members: [{ personId: 7, windows: windows(10, 20, 30) }],
  windows: windows(11, 21, 31),
} as unknown as AccountSnapshot;

const restored = (...journal: Parameters<typeof withUndrained>[1]) => withUndrained(SNAPSHOT, journal);

test('entries of the journal that the book has count once, and so do repeated ones', async (t) => {
  const waiting = entry(1, { credits: micro(-5) });
  t.match(restored(entry(1, { id: 'booked' }), waiting, waiting), { balance: 95, seq: 8 });
});

test('a charge counts for the periods that it was booked to, on its own key', async (t) => {
  const yesterday = periodStarts(NOW - DAY_MS).day;
  const state = restored(
    entry(1, {
      keyId: 3,
      credits: micro(-5),
      day: STARTS.day,
      hours: { key: NOW, member: NOW - 1, account: NOW + FIVE_HOURS_MS },
    }),
    entry(1, {
      keyId: 3,
      credits: micro(-7),
      day: yesterday,
      hours: { key: NOW - FIVE_HOURS_MS, account: NOW },
    }),
  );
  const ofKey = { daySpent: 15, weekSpent: 32, monthSpent: 42, totalSpent: 112 };
  t.match(state.members, [{ windows: { ...ofKey, hours: NOW - 1, hoursSpent: 10 } }]);
  t.match(state.keys, [
    { windows: { daySpent: 15, weekSpent: 32, monthSpent: 42, totalSpent: 112, hours: NOW, hoursSpent: 10 } },
    { windows: { daySpent: 1, weekSpent: 1, monthSpent: 1, totalSpent: 100, hours: NOW, hoursSpent: 5 } },
  ]);
  const { windows: ofAccount } = state;
  t.match(ofAccount, {
    daySpent: 16,
    weekSpent: 33,
    monthSpent: 43,
    hours: NOW + FIVE_HOURS_MS,
    hoursSpent: 5,
  });
});

test('a refund makes room in the periods of its charge', async (t) => {
  const before = periodStarts(NOW - 7 * DAY_MS).day;
  const { keys, balance } = restored(entry(1, { keyId: 3, type: 'refund', credits: micro(5), day: before }));
  t.equal(balance, 105);
  t.match(keys[0], { windows: { daySpent: 10, weekSpent: 20, monthSpent: 25, totalSpent: 95 } });
});

test('an entry without room in the balance is left out, and the next one counts', async (t) => {
  const topUp = () => entry(1, { type: 'top_up', credits: micro(HUGE) });
  t.match(restored(topUp(), topUp(), entry(1, { credits: micro(-1) })), { balance: HUGE + 99, seq: 9 });
});

/** Starts of five hours, and overlapping ones an hour earlier. */
const start = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.boolean())
  .map(([count, isEarlier]) => NOW + 2 * count * FIVE_HOURS_MS - (isEarlier ? 3_600_000 : 0));

const drawnEntry = fc.record({
  key: fc.nat(2),
  daysAgo: fc.nat(40),
  hours: fc.record({ key: start, member: start, account: start }),
  credits: fc.integer({ min: -9, max: 3 }),
});

eachBook(
  'a rebuild restores the same from the journal as from the book, wherever the drain stopped',
  async (t, book) => {
    let count = 0;
    const drawn = fc.array(drawnEntry, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(drawn, fc.nat(12), async (calls, drained) => {
        const { account, key } = await stored(book);
        const ofMember = () =>
          book.createKey(account.id, newKey({ personId: 7, memberSpendingLimits: [] }), NOW);
        const keys = [key, await ofMember(), await ofMember()];
        const all = entries(
          account.id,
          calls.map(({ key: index, daysAgo, hours, credits }) => ({
            keyId: keys[index]?.id ?? null,
            ...(index > 0 && { personId: 7 }),
            type: credits > 0 ? 'refund' : 'charge',
            day: STARTS.day - daysAgo,
            hours,
            credits: micro(credits),
          })),
        );
        await book.post(all.slice(0, drained));
        const ids = all.map(({ id }) => id);
        const before = await book.snapshot(account.id, STARTS, ids);
        await book.post(all.slice(drained));
        const after = await book.snapshot(account.id, STARTS, ids);
        if (!before || !after) throw new Error('no account');
        deepEqual(withUndrained(before, all), withUndrained(after, all));
        const spent = (windows?: Windows) => windows?.totalSpent ?? 0;
        equal(
          spent(after.members[0]?.windows),
          spent(after.keys[1]?.windows) + spent(after.keys[2]?.windows),
        );
        count++;
      }),
    );
    t.ok(count > 0);
  },
);
