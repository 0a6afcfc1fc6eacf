import t from 'tap';
import { barsOf, barWords, labelsOf, type Series, ticksOf } from '../../src/dashboard/page/ui/chart-bars.ts';

const SERIES: readonly Series[] = [
  { id: '7', name: 'backend' },
  { id: '9', name: 'backend' },
];

const at = (at: string, one: number, other = 0) => ({ at, values: { '7': one, '9': other } });

t.test('series of one name are told apart by their ids', async (t) => {
  const [bar] = barsOf([at('2026-01-15T13:03:00.000Z', 1, 2)], SERIES, 'minute', 'utc');
  t.same(bar?.values, [1, 2]);
  t.equal(bar?.sum, 3);
});

t.test('a bar says its span of time and its values', async (t) => {
  const words = (unit: 'minute' | 'hour' | 'day', ...buckets: ReturnType<typeof at>[]) =>
    barWords(barsOf(buckets, SERIES, unit, 'utc')[0], SERIES, String).split(': ')[0];
  t.equal(words('minute', at('2025-01-15T13:03:00.000Z', 1)), '15 Jan 2025, 13:03–13:04');
  t.equal(words('hour', at('2025-01-15T23:00:00.000Z', 1)), '15 Jan 2025, 23:00–00:00');
  t.equal(words('day', at('2025-01-15', 1)), '15 Jan 2025');
  t.equal(words('day', at('2025-01-15', 1), at('2025-01-18', 1)), '15 Jan 2025 – 17 Jan 2025');
  const [bar] = barsOf([at('2025-01-15', 1, 2)], SERIES, 'day', 'local');
  t.equal(barWords(bar, SERIES, String), '15 Jan 2025: backend 1, backend 2');
  t.same([bar?.from, bar?.to], ['2025-01-15T00:00:00.000Z', '2025-01-16T00:00:00.000Z']);
});

t.test('the axis counts in steps that people count in, and calls in whole ones', async (t) => {
  const ticks = (...sums: number[]) =>
    ticksOf(sums.map((sum) => ({ from: '', to: '', words: '', values: [sum], sum })));
  t.same(ticks(0, 0), [0, 1]);
  t.same(ticks(1), [0, 1]);
  t.same(ticks(3), [0, 1, 2, 3]);
  t.same(ticks(152), [0, 50, 100, 150, 200]);
  t.same(ticks(0.3), [0, 0.1, 0.2, 0.3]);
});

t.test('labels of the axis name the day where it changes, as many as fit', async (t) => {
  const hours = Array.from({ length: 24 }, (_, hour) =>
    at(new Date(Date.UTC(2025, 0, 15, 12 + hour)).toISOString(), 1),
  );
  const bars = barsOf(hours, SERIES, 'hour', 'utc');
  t.same(
    labelsOf(bars, 'hour', 'utc', 700).map(({ words }) => words),
    ['15 Jan 2025, 12:00', '16:00', '20:00', '16 Jan 2025, 00:00', '04:00', '08:00'],
  );
  t.equal(labelsOf(bars, 'hour', 'utc', 300).length, 3);
});
