import { daysOf } from '../home/spend-chart.tsx';
import { dayOf, type Range } from '../ui/range-picker.tsx';
import type { UsedRow } from './measures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Question for the previous period: by day, or by hour where the range is the last 24. */
interface SpanQuestion {
  readonly group_by: 'day' | 'hour';
  readonly from: string;
  readonly to: string;
}

/**
 * Reads the rows of the period of the same length before a range, day by day, or of the 24 clock hours before the last
 * 24, hour by hour. Undefined for a range with an open end.
 */
export async function readBefore<
  Row extends UsedRow & { readonly hour?: string | undefined; readonly day?: string | undefined },
>(
  { name, from, to }: Range,
  read: (question: SpanQuestion) => Promise<{ readonly rows: readonly Row[] }>,
  now = Date.now(),
): Promise<readonly (readonly Row[])[] | undefined> {
  if (name === '24h') {
    const end = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS - DAY_MS;
    const { rows } = await read({ group_by: 'hour', from: dayOf(end - DAY_MS), to: dayOf(end - 1) });
    const byHour = Map.groupBy(rows, ({ hour = '' }) => Date.parse(hour));
    return Array.from({ length: 24 }, (_, at) => byHour.get(end - DAY_MS + at * HOUR_MS) ?? []);
  }
  if (from === '' || to === '') return undefined;
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const before = { from: dayOf(first - (last - first) - DAY_MS), to: dayOf(first - DAY_MS) };
  const byDay = Map.groupBy((await read({ group_by: 'day', ...before })).rows, ({ day }) => day);
  return daysOf(before).map((day) => byDay.get(day) ?? []);
}
