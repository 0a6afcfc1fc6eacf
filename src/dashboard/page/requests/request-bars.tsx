import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { type Base, readUsageOf } from '../api/account.ts';
import type { CallsBase } from '../api/calls.ts';
import { readUsageOfAll } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { chartRows } from '../home/spend-chart.tsx';
import { type Range, usageRange } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { type ChartRow, StackedChart } from '../ui/stacked-chart.tsx';

const COLOURS = { OK: 'teal.6', Refused: 'orange.5', Failed: 'red.6' } as const;

/** Bars of the calls that were ok, refused and failed, over the range. `keyId`: of one key; "" for all. */
export function RequestBars({ of: base, range, keyId }: { of: CallsBase; range: Range; keyId: string }) {
  const unit = range.name === '24h' ? 'hour' : 'day';
  const days = usageRange(range);
  const loaded = useLoad(
    (signal): Promise<Pick<UsageReportView, 'from' | 'to'> & { rows: readonly Ends[] }> =>
      base === '/api/admin/'
        ? readUsageOfAll({ group_by: unit, ...days }, signal)
        : readUsageOf(base as Base, { group_by: unit, key_id: keyId, ...days }, signal),
    JSON.stringify([base, keyId, range.name, days]),
  );
  // Below, the list says that nothing is there.
  if (loaded.data?.rows.every(({ calls, refused = 0 }) => calls + refused === 0)) return null;
  return (
    <section className="card">
      <Shown of={loaded}>
        {(report) => (
          <StackedChart
            title="Requests by result"
            axis={unit === 'hour' ? 'Hour' : 'Day (UTC)'}
            rows={endsRows(report, range)}
            format={count}
            colours={COLOURS}
            height={140}
          />
        )}
      </Shown>
    </section>
  );
}

interface Ends {
  readonly day?: string | undefined;
  readonly hour?: string | undefined;
  readonly calls: number;
  readonly refused?: number | undefined;
  readonly failed?: number | undefined;
}

function endsRows(report: Parameters<typeof chartRows<Ends>>[0], range: Range): ChartRow[] {
  const series: readonly (readonly [string, (row: Ends) => number])[] = [
    ['OK', ({ calls, failed = 0 }) => calls - failed],
    ['Refused', ({ refused = 0 }) => refused],
    ['Failed', ({ failed = 0 }) => failed],
  ];
  const each = series.map(([name, amountOf]) => chartRows(report, range, amountOf, () => name));
  return (each[0] ?? []).map(({ label }, at) => ({
    label,
    values: Object.assign({}, ...each.map((rows) => rows[at]?.values)),
  }));
}
