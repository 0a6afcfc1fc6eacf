import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { type Base, OWN, readUsageOf } from '../api/account.ts';
import { ApiFailure } from '../api/request.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { sumOf } from '../home/pace.ts';
import { chartRows } from '../home/spend-chart.tsx';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { Empty } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { Choice } from '../ui/filters.tsx';
import { type Range, RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { StackedChart } from '../ui/stacked-chart.tsx';
import { Table } from '../ui/table.tsx';
import { chargeOf, MEASURE_CHOICES, MEASURES, type Measure, measureIn, sumBy, tokensOf } from './measures.ts';
import { InAll, readBefore } from './span-before.tsx';
import { usageCsv } from './usage-csv.ts';

export type UsageGroup = 'model' | 'key';
type Row = UsageReportView['rows'][number];

/** Rows that are drawn; the export has all of them. */
const SHOWN = 100;
const GROUP_NAMES: Readonly<Record<UsageGroup, string>> = { model: 'Model', key: 'Key' };

/** Spend, calls, tokens or errors of an account over a range, by model or key, with the span before and an export. */
export function AccountUsage({ of: base, groups }: { of: Base; groups: readonly UsageGroup[] }) {
  const range = rangeOf(query.value);
  const group = groups.find((known) => known === query.value.get('group_by')) ?? 'model';
  const measure = measureIn(query.value);
  const unit = range.name === '24h' ? 'hour' : 'day';
  const loaded = useLoad(
    async (signal) => {
      const [reports, before] = await Promise.all([
        readOverTime(base, unit, group, range, signal),
        readBefore(range, (question) => readUsageOf(base, question, signal)),
      ]);
      return { ...reports, before };
    },
    JSON.stringify([base, group, range.name, usageRange(range)]),
  );
  return (
    <>
      <div className="toolbar">
        <search className="filters">
          <Choice
            label="Show"
            value={measure}
            choices={MEASURE_CHOICES}
            onValue={(value) => choose({ measure: value === 'spend' ? '' : value })}
          />
          {groups.length > 1 && (
            <Choice
              label="By"
              value={group}
              choices={groups.map((value) => [value, GROUP_NAMES[value]])}
              onValue={(value) => choose({ group_by: value === 'model' ? '' : value })}
            />
          )}
        </search>
        <RangePicker />
      </div>
      <Shown of={loaded}>{(data) => <Report {...{ ...data, range, group, measure, base }} />}</Shown>
    </>
  );
}

/**
 * Reads the sums over time of each model or key. Of more keys and days than a report has rows, the chart has the models over
 * time, and the table the keys over the whole range.
 */
async function readOverTime(
  base: Base,
  unit: 'hour' | 'day',
  group: UsageGroup,
  range: Range,
  signal: AbortSignal,
): Promise<{ report: UsageReportView; chart: UsageReportView; series: UsageGroup }> {
  const read = (group_by: string) => readUsageOf(base, { group_by, ...usageRange(range) }, signal);
  try {
    const report = await read(`${unit},${group}`);
    return { report, chart: report, series: group };
  } catch (error) {
    const isTooLong = error instanceof ApiFailure && error.code === 'invalid_field';
    if (!isTooLong || group === 'model' || unit === 'hour') throw error;
    const [report, chart] = await Promise.all([read(group), read(`${unit},model`)]);
    return { report, chart, series: 'model' };
  }
}

function Report(props: {
  report: UsageReportView;
  chart: UsageReportView;
  series: UsageGroup;
  before: readonly Row[] | undefined;
  range: Range;
  group: UsageGroup;
  measure: Measure;
  base: Base;
}) {
  const { report, chart, series, before, range, group, measure, base } = props;
  const { name, of, format } = MEASURES[measure];
  const { total } = chart;
  if (total.calls === 0 && (total.refused ?? 0) === 0) {
    return (
      <Empty title="No calls in this range">
        <p>Choose another range.</p>
      </Empty>
    );
  }
  const title = `${name} by ${series}`;
  return (
    <>
      <section className="card">
        <div className="card-head">
          <h2>{title}</h2>
          <InAll of={of(total)} before={before && sumBy(before, of)} format={format} />
        </div>
        <StackedChart
          title={title}
          axis={range.name === '24h' ? 'Hour' : 'Day (UTC)'}
          rows={chartRows(chart, range, of, (row) => nameOf(row, series))}
          format={format}
        />
      </section>
      <div className="section-head">
        <h2>{GROUP_NAMES[group]}s</h2>
        <Export file="usage" read={async () => usageCsv(report)} />
      </div>
      <GroupTable rows={report.rows} group={group} base={base} />
    </>
  );
}

function nameOf(row: Row, group: UsageGroup): string {
  if (group === 'model') return row.model ?? 'no model';
  return row.key_name ?? `Key ${row.key_id}`;
}

function GroupTable({ rows, group, base }: { rows: readonly Row[]; group: UsageGroup; base: Base }) {
  const requests = base === OWN ? '#/requests' : `#/accounts/${base.split('/')[4]}/requests`;
  // The requests of the range that is shown here.
  const shown = new URLSearchParams(
    [...query.value].filter(([name]) => ['range', 'from', 'to'].includes(name)),
  );
  if (shown.size === 0) shown.set('range', '30d');
  const and = `?${shown}&`;
  const groups = [...Map.groupBy(rows, (row) => String(group === 'model' ? row.model : row.key_id))]
    .map(([id, of]) => ({ id, of, spent: sumOf(of.map(chargeOf)), name: nameOf(of[0] as Row, group) }))
    .toSorted((one, other) => Number(other.spent) - Number(one.spent) || one.name.localeCompare(other.name));
  return (
    <>
      {groups.length > SHOWN && (
        <p className="lead">
          The {SHOWN} with the highest spend, of {count(groups.length)}. The export has all.
        </p>
      )}
      <Table
        label={`Usage by ${group}`}
        columns={[
          GROUP_NAMES[group],
          ['Calls', 'number'],
          ['Refused', 'number'],
          ['Failed', 'number'],
          ['Tokens', 'number'],
          ['Spend', 'number'],
        ]}
      >
        {groups.slice(0, SHOWN).map(({ id, of, spent, name }) => (
          <tr key={id}>
            <th scope="row" className="clip">
              {id === 'null' ? (
                name
              ) : (
                <a
                  href={`${requests}${and}${group === 'model' ? 'model' : 'key_id'}=${encodeURIComponent(id)}`}
                >
                  {name}
                </a>
              )}
            </th>
            <td className="number">{count(sumBy(of, ({ calls }) => calls))}</td>
            <td className="number">{count(sumBy(of, ({ refused = 0 }) => refused))}</td>
            <td className="number">{count(sumBy(of, ({ failed = 0 }) => failed))}</td>
            <td className="number">{count(sumBy(of, ({ usage }) => tokensOf(usage)))}</td>
            <td className="number">
              <Amount of={spent} isInRow />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
