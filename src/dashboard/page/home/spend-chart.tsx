import { type Base, readUsageOf } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { rounded } from '../format/amount.ts';
import { dayName, moment, zone } from '../format/time.ts';
import { query } from '../route.ts';
import { Empty } from '../ui/elements.tsx';
import { type Range, RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { type ChartRow, StackedChart } from '../ui/stacked-chart.tsx';

/** Spend over the chosen range, stacked by model. */
export function SpendChart({ of: base, keyId = '' }: { of: Base; keyId?: string }) {
  const range = rangeOf(query.value);
  const unit = range.name === '24h' ? 'hour' : 'day';
  const loaded = useLoad(
    (signal) => readUsageOf(base, { group_by: `${unit},model`, key_id: keyId, ...usageRange(range) }, signal),
    JSON.stringify([base, keyId, range.name, usageRange(range)]),
  );
  return (
    <section className="card">
      <div className="card-head">
        <h2>Spend by model</h2>
        <RangePicker />
      </div>
      <Shown of={loaded}>
        {(report) =>
          report.total.calls === 0 ? (
            <Empty title="No calls in this range">
              <p>Spend appears here by model.</p>
            </Empty>
          ) : (
            <StackedChart
              title="Spend by model"
              axis={unit === 'hour' ? 'Hour' : 'Day (UTC)'}
              rows={chartRows(
                report,
                range,
                ({ credits }) => Number(credits),
                ({ model }) => model ?? 'none',
              )}
              format={rounded}
            />
          )
        }
      </Shown>
    </section>
  );
}

/** Rows of a chart over every day (or hour) of a range, with a value for each series. `nameOf`: default the model. */
export function chartRows<Row extends { day?: string | undefined; hour?: string | undefined }>(
  report: { readonly from: string; readonly to: string; readonly rows: readonly Row[] },
  range: Range,
  amountOf: (row: Row) => number,
  nameOf: (row: Row) => string,
): ChartRow[] {
  const isHours = range.name === '24h';
  const places = isHours ? hoursBefore(Date.now()) : daysOf(report);
  const values = new Map(places.map((place) => [place, {} as Record<string, number>]));
  for (const row of report.rows) {
    const sums = values.get((isHours ? row.hour : row.day) ?? '');
    const name = nameOf(row);
    const value = amountOf(row);
    if (sums && value !== 0) sums[name] = (sums[name] ?? 0) + value;
  }
  return [...values].map(([place, sums]) => ({
    label: isHours ? (moment(place, zone.value).split(', ')[1] ?? place) : dayName(place),
    values: sums,
  }));
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The clock hours of the last 24, the current one included, as the gateway reports them. */
function hoursBefore(now: number): string[] {
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from({ length: 24 }, (_, at) => new Date(last - (23 - at) * HOUR_MS).toISOString());
}

/** Every UTC day of a report, the days without calls too. */
export function daysOf({ from, to }: { readonly from: string; readonly to: string }): string[] {
  const first = Date.parse(`${from}T00:00:00Z`);
  const days = (Date.parse(`${to}T00:00:00Z`) - first) / DAY_MS + 1;
  return Array.from({ length: days }, (_, at) => new Date(first + at * DAY_MS).toISOString().slice(0, 10));
}
