import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { periodStarts } from '../../src/domain/period.ts';
import { entryAnew } from '../../src/ledger/entry-anew.ts';

const DAY_MS = 86_400_000;
const yesterday = periodStarts(Date.now() - DAY_MS);

const CHARGE: JournalEntry = {
  id: 'req_1',
  type: 'charge',
  accountId: 7,
  keyId: 3,
  createdAt: Date.now() - DAY_MS,
  model: 'flat',
  category: 'text',
  endpoint: '/v1/chat/completions',
  status: 200,
  outcome: 'complete',
  usage: {},
  estimated: false,
  credits: micro(-2),
  seq: 2,
  balanceAfter: micro(8),
  day: yesterday.day,
  epoch: 1,
  crossing: false,
};

/** Day, week and month that an entry is booked to when it is applied again. */
const periodsAnew = (entry: JournalEntry) => entryAnew(entry).values.slice(2, 5);

test('a refund that is applied again counts for the day of its charge', async (t) => {
  const { day, week, month } = yesterday;
  const refund = { ...CHARGE, id: 'req_1:refund', type: 'refund' as const, credits: micro(2) };
  t.same(periodsAnew(refund), [day, week, month]);
});

test('a charge that is applied again counts for today: yesterday’s sums may be closed', async (t) => {
  const { day, week, month } = periodStarts(Date.now());
  t.same(periodsAnew(CHARGE), [day, week, month]);
});
