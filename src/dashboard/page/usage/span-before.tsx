import { changeWords } from '../home/figures.tsx';
import { dayOf, type Range } from '../ui/range-picker.tsx';
import type { UsedRow } from './measures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What a report is asked for the span before: by day, or by hour where the range is the last 24. */
interface SpanQuestion {
  readonly group_by: 'day' | 'hour';
  readonly from: string;
  readonly to: string;
}

/**
 * Reads the rows of the span of the same length before a range: of days, or of the 24 clock hours before the last 24.
 * Undefined for a range with an open end.
 */
export async function readBefore<Row extends UsedRow & { readonly hour?: string | undefined }>(
  { name, from, to }: Range,
  read: (question: SpanQuestion) => Promise<{ readonly rows: readonly Row[] }>,
  now = Date.now(),
): Promise<readonly Row[] | undefined> {
  if (name === '24h') {
    const end = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS - DAY_MS;
    const { rows } = await read({ group_by: 'hour', from: dayOf(end - DAY_MS), to: dayOf(end - 1) });
    return rows.filter(({ hour = '' }) => Date.parse(hour) >= end - DAY_MS && Date.parse(hour) < end);
  }
  if (from === '' || to === '') return undefined;
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const before = { from: dayOf(first - (last - first) - DAY_MS), to: dayOf(first - DAY_MS) };
  return (await read({ group_by: 'day', ...before })).rows;
}

/** The sum over a range, and the change against that of the span before; `before` is undefined where there is none. */
export function InAll(props: { of: number; before: number | undefined; format: (value: number) => string }) {
  const { of: all, before, format } = props;
  return (
    <p className="hint">
      {format(all)} in all
      {before !== undefined && `, ${format(before)} in the span before`}
      {before !== undefined && before > 0 && ` (${changeWords(Math.round(((all - before) / before) * 100))})`}
    </p>
  );
}
