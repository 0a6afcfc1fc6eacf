import { test } from 'tap';
import type { AccountSnapshot } from '../../../src/book/snapshot.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { KeyRecord } from '../../../src/domain/key.ts';
import { periodStarts } from '../../../src/domain/period.ts';
import { withUndrained } from '../../../src/ledger/recovery/rebuild.ts';
import { entry } from '../../helper/fixtures/book-records.ts';

const DAY_MS = 86_400_000;
/** A Wednesday in the middle of its month. */
const NOW = Date.UTC(2026, 10, 18, 12);
const STARTS = periodStarts(NOW);
const HUGE = 8_000_000_000_000_000;

const SNAPSHOT = {
  balance: micro(100),
  seq: 7,
  known: new Set(['booked']),
  keys: [
    { key: { id: 3 } as KeyRecord, daySpent: micro(10), weekSpent: micro(20), monthSpent: micro(30) },
    { key: { id: 4 } as KeyRecord, daySpent: micro(1), weekSpent: micro(1), monthSpent: micro(1) },
  ],
} as unknown as AccountSnapshot;

const restored = (...journal: Parameters<typeof withUndrained>[1]) =>
  withUndrained(SNAPSHOT, journal, STARTS);

test('entries of the journal that the book has count once, and so do repeated ones', async (t) => {
  const waiting = entry(1, { credits: micro(-5) });
  t.match(restored(entry(1, { id: 'booked' }), waiting, waiting), { balance: 95, seq: 8 });
});

test('a charge counts for the periods that it was booked to, on its own key', async (t) => {
  const yesterday = periodStarts(NOW - DAY_MS).day;
  const { keys } = restored(
    entry(1, { keyId: 3, credits: micro(-5), day: STARTS.day }),
    entry(1, { keyId: 3, credits: micro(-7), day: yesterday }),
  );
  t.match(keys, [
    { daySpent: 15, weekSpent: 32, monthSpent: 42 },
    { daySpent: 1, weekSpent: 1, monthSpent: 1 },
  ]);
});

test('a refund makes room in the periods of its charge', async (t) => {
  const before = periodStarts(NOW - 7 * DAY_MS).day;
  const { keys, balance } = restored(entry(1, { keyId: 3, type: 'refund', credits: micro(5), day: before }));
  t.equal(balance, 105);
  t.match(keys[0], { daySpent: 10, weekSpent: 20, monthSpent: 25 });
});

test('an entry without room in the balance is left out, and the next one counts', async (t) => {
  const topUp = () => entry(1, { type: 'top_up', credits: micro(HUGE) });
  t.match(restored(topUp(), topUp(), entry(1, { credits: micro(-1) })), { balance: HUGE + 99, seq: 9 });
});
