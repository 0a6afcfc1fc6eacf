import { test } from 'tap';
import { micro } from '../../../src/domain/credits.ts';
import type { JournalEntry } from '../../../src/domain/ledger-entry.ts';
import { periodStarts } from '../../../src/domain/period.ts';
import { repostArgs } from '../../../src/ledger/recovery/repost-args.ts';
import { entry } from '../../helper/book-records.ts';

const DAY_MS = 86_400_000;
const yesterday = periodStarts(Date.now() - DAY_MS);

const CHARGE = entry(7, { keyId: 3, credits: micro(-2), day: yesterday.day });

/** Day, week and month that an entry is booked to when it is applied again. */
const periodsAnew = (one: JournalEntry) => repostArgs(one).values.slice(2, 5);

test('a refund that is applied again counts for the day of its charge', async (t) => {
  const { day, week, month } = yesterday;
  const refund: JournalEntry = { ...CHARGE, type: 'refund', credits: micro(2) };
  t.same(periodsAnew(refund), [day, week, month]);
});

test('a charge that is applied again counts for today: yesterday’s sums may be closed', async (t) => {
  const { day, week, month } = periodStarts(Date.now());
  t.same(periodsAnew(CHARGE), [day, week, month]);
});
