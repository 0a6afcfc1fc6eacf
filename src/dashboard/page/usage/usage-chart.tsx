import { ApiFailure } from '../api/api-failure.ts';
import { changeWords } from '../home/figures.tsx';
import { chartRows } from '../home/spend-chart.tsx';
import type { Range } from '../ui/range-picker.tsx';
import { StackedChart } from '../ui/stacked-chart.tsx';
import { MEASURES, type Measure, sumBy, type UsedRow } from './measures.ts';

/** A report by day or hour, and by what its series are. */
export interface Series<Row, By> {
  readonly report: {
    readonly from: string;
    readonly to: string;
    readonly rows: readonly Row[];
    readonly total: UsedRow;
  };
  readonly by: By;
}

/** Reads a report by its first group; with more rows than a report has, by model. */
export async function readSeries<Report, By extends string>(
  by: By,
  read: (by: By | 'model') => Promise<Report>,
): Promise<{ report: Report; by: By | 'model' }> {
  try {
    return { report: await read(by), by };
  } catch (error) {
    const isTooLong = error instanceof ApiFailure && error.code === 'invalid_field';
    if (!isTooLong || by === 'model') throw error;
    return { report: await read('model'), by: 'model' };
  }
}

/** A measure over the range, stacked, with its sum, and the previous period as a line. */
export function UsageChart<
  Row extends UsedRow & { day?: string | undefined; hour?: string | undefined },
>(props: {
  of: Series<Row, string>;
  /** Rows of the previous period, by day or hour. */
  before: readonly (readonly UsedRow[])[] | undefined;
  range: Range;
  measure: Measure;
  nameOf: (row: Row) => string;
}) {
  const { of: series, before, range, measure, nameOf } = props;
  const { report, by } = series;
  const { name, of, format } = MEASURES[measure];
  const title = `${name} by ${by}`;
  const sumBefore = before && sumBy(before.flat(), of);
  // A line along the axis would say no more than the words.
  const line = sumBefore ? before : undefined;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
        <Total of={of(report.total)} before={sumBefore} format={format} />
      </div>
      <StackedChart
        title={title}
        axis={range.name === '24h' ? 'Hour' : 'Day (UTC)'}
        rows={chartRows(report, range, of, nameOf).map((row, at) => ({
          ...row,
          before: line && sumBy(line[at] ?? [], of),
        }))}
        format={format}
      />
    </section>
  );
}

/** The sum over a range, and the change against the previous period; `before` is undefined if there is none. */
function Total(props: { of: number; before: number | undefined; format: (value: number) => string }) {
  const { of: all, before, format } = props;
  return (
    <p className="hint">
      {format(all)} total
      {before !== undefined && `, ${format(before)} in the previous period`}
      {before !== undefined && before > 0 && ` (${changeWords(Math.round(((all - before) / before) * 100))})`}
    </p>
  );
}
