import t from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { foldedDay, monthsSince, spanOf, statementOf } from '../../src/dashboard/page/billing/fold.ts';
import {
  barsOf,
  compared,
  groupsOf,
  type Report,
  type ReportRow,
  spanBefore,
} from '../../src/dashboard/page/usage/sums.ts';

const NOON = Date.parse('2026-11-24T12:00:00Z');

function entry(type: EntryView['type'], credits: string, id: string = type): EntryView {
  return { id, type, credits, created_at: '2026-11-21T08:00:00.000Z' } as EntryView;
}

function row(day: string, fields: Partial<ReportRow>): ReportRow {
  return { day, calls: 1, refused: 0, failed: 0, credits: '1.000000', usage: {}, ...fields };
}

function reportOf(rows: readonly ReportRow[], group_by = 'day,key'): Report {
  const total = { calls: 0, usage: {} };
  return { from: '2026-11-22', to: '2026-11-24', group_by, rows, total };
}

t.test('a month is folded by day, exactly, and what cost nothing is counted', async (t) => {
  const { lines, free, sums } = statementOf(
    [
      { day: '2026-11-20', calls: 3, credits: '0.100000' },
      { day: '2026-11-21', calls: 2, credits: '0.200000' },
      { day: '2026-11-22', calls: 4, credits: '0.000000' },
    ],
    [entry('top_up', '10.000000'), entry('adjustment', '-0.000001'), entry('refund', '0.050000')],
  );
  t.same(
    lines.map(({ day, credits, calls }) => [day, credits, calls]),
    [
      ['2026-11-21', '10.000000', undefined],
      ['2026-11-21', '-0.000001', undefined],
      ['2026-11-21', '-0.200000', 2],
      ['2026-11-20', '-0.100000', 3],
    ],
  );
  t.equal(free, 4);
  t.same(sums, {
    top_up: '10.000000',
    adjustment: '-0.000001',
    charge: '-0.350000',
    refund: '0.050000',
    change: '9.699999',
  });
});

t.test('the entries of a day leave out those that changed nothing, and other than charges', async (t) => {
  const { shown, free, sum } = foldedDay([
    entry('charge', '-0.100000', 'a'),
    entry('charge', '0.000000', 'b'),
    entry('expired_hold', '0.000000', 'c'),
    entry('refund', '0.030000', 'd'),
    entry('top_up', '5.000000', 'e'),
  ]);
  t.same(
    shown.map(({ id }) => id),
    ['a', 'd'],
  );
  t.equal(free, 2);
  t.equal(sum, '-0.070000');
});

t.test('the months of an account are those since its creation', async (t) => {
  t.same(monthsSince('2026-09-30T23:00:00.000Z', NOON), ['2026-11', '2026-10', '2026-09']);
  t.equal(monthsSince('2001-01-01T00:00:00.000Z', NOON).length, 24);
  t.same(spanOf('2024-02'), { from: '2024-02-01', to: '2024-02-29' });
});

t.test('D3: keys of one name were summed as one', async (t) => {
  const rows = [
    row('2026-11-23', { key_id: 1, key_name: 'backend' }),
    row('2026-11-23', { key_id: 2, key_name: 'backend', credits: '0.000001' }),
    row('2026-11-24', { key_id: 1, key_name: 'backend', calls: 2, refused: 3 }),
  ];
  t.same(
    groupsOf(rows, 'key').map(({ id, credits, requests, refused }) => [id, credits, requests, refused]),
    [
      ['1', '2.000000', 6, 3],
      ['2', '0.000001', 1, 0],
    ],
  );
  const { series, buckets } = barsOf(reportOf(rows), 'key', 'credits', new Map(), NOON);
  t.same(
    series.map(({ id }) => id),
    ['1', '2'],
  );
  t.same(buckets, [
    { at: '2026-11-22', values: {} },
    { at: '2026-11-23', values: { 1: 1, 2: 0.000001 } },
    { at: '2026-11-24', values: { 1: 1 } },
  ]);
});

t.test('groups without a color of their own are summed up, and counted', async (t) => {
  const rows = Array.from({ length: 9 }, (_, at) =>
    row('2026-11-24', { key_id: at, credits: `${at + 1}.000000` }),
  );
  const { series, buckets } = barsOf(reportOf(rows), 'key', 'credits', new Map(), NOON);
  t.equal(series.length, 7);
  t.same(series.at(-1), { id: 'others', name: '3 others' });
  t.equal(buckets.at(-1)?.values.others, 6);
});

t.test('a report without groups has one series', async (t) => {
  const report = reportOf([row('2026-11-24', {})], 'day');
  const { series, buckets } = barsOf(report, 'key', 'requests', new Map(), NOON);
  t.same(series, [{ id: 'all', name: 'Requests' }]);
  t.equal(buckets.at(-1)?.values.all, 1);
});

t.test('a report by hour has the hours of the last 24, the current one included', async (t) => {
  const report = { ...reportOf([], 'hour,model'), from: '2026-11-23' };
  const { buckets } = barsOf(report, 'model', 'credits', new Map(), NOON + 1);
  t.equal(buckets.length, 24);
  t.equal(buckets.at(-1)?.at, '2026-11-24T12:00:00.000Z');
});

t.test('D16: a part of a day was compared with whole days', async (t) => {
  const report = reportOf([row('2026-11-23', {}), row('2026-11-24', {})], 'day');
  t.same(spanBefore(report, NOON), { days: 2, from: '2026-11-20', to: '2026-11-21' });
  const before = reportOf([row('2026-11-20', { credits: '4.000000' })], 'day');
  t.same(compared(report, before, 'credits', NOON), { days: 2, now: 1, before: 4 }, 'today is left out');
  t.equal(spanBefore({ from: '2026-11-24', to: '2026-11-24' }, NOON), undefined);
});
