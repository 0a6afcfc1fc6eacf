import { test } from 'tap';
import { validAt } from '../../../src/config/price-list/listed-model.ts';

const BEFORE = { input_mtok: 1 };
const AFTER = { input_mtok: 2 };
const NIGHT = { input_mtok: 3 };
const DATED = { prices: [{ prices: BEFORE }, { constraint: { start_date: '2026-11-01' }, prices: AFTER }] };

test('a price counts from its day on, in UTC', async (t) => {
  t.same(validAt(DATED, new Date('2026-10-31T23:59:59.999Z')), { prices: [BEFORE], changesOn: '2026-11-01' });
  t.same(validAt(DATED, new Date('2026-11-01T00:00:00.000Z')), { prices: [AFTER], changesOn: undefined });
});

test('of prices by time of day all are taken that count at some time', async (t) => {
  const constraint = { start_time: '16:30:00Z', end_time: '00:30:00Z' };
  const prices = [...DATED.prices, { constraint, prices: NIGHT }];
  t.same(validAt({ prices }, new Date('2026-12-01')).prices, [NIGHT, AFTER], 'those before are out of date');
  t.same(validAt({ prices }, new Date('2026-10-01')), { prices: [NIGHT, BEFORE], changesOn: '2026-11-01' });
  const only = [{ constraint, prices: NIGHT }];
  t.same(validAt({ prices: only }, new Date()).prices, [NIGHT]);
});

test('where none is valid yet the first is', async (t) => {
  const prices = [{ constraint: { start_date: '2027-01-01' }, prices: AFTER }];
  t.same(validAt({ prices }, new Date('2026-11-22')), { prices: [AFTER], changesOn: '2027-01-01' });
});

test('prices without dates', async (t) => {
  t.same(validAt({ prices: BEFORE }, new Date()), { prices: [BEFORE], changesOn: undefined });
});
