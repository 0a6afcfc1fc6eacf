import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { type Base, OWN, readUsageOf } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { sumOf } from '../home/pace.ts';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { Empty } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { Choice } from '../ui/filters.tsx';
import { type Range, RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { chargeOf, MEASURE_CHOICES, type Measure, measureIn, sumBy, tokensOf } from './measures.ts';
import { readBefore } from './span-before.ts';
import { readSeries, type Series, UsageChart } from './usage-chart.tsx';
import { usageCsv } from './usage-csv.ts';

export type UsageGroup = 'model' | 'key';
type Row = UsageReportView['rows'][number];

/** Rows that are drawn; the export has all of them. */
const SHOWN = 100;
const GROUP_NAMES: Readonly<Record<UsageGroup, string>> = { model: 'Model', key: 'Key' };

/** Spend, calls, tokens or errors of an account over a range, by model or key, with the previous period and an export. */
export function AccountUsage({ of: base, groups }: { of: Base; groups: readonly UsageGroup[] }) {
  const range = rangeOf(query.value);
  const group = groups.find((known) => known === query.value.get('group_by')) ?? 'model';
  const measure = measureIn(query.value);
  const unit = range.name === '24h' ? 'hour' : 'day';
  const loaded = useLoad(
    async (signal) => {
      const read = (group_by: string) => readUsageOf(base, { group_by, ...usageRange(range) }, signal);
      const [chart, before] = await Promise.all([
        readSeries(group, (by) => read(`${unit},${by}`)),
        readBefore(range, (question) => readUsageOf(base, question, signal)),
      ]);
      // Too many keys for a chart have a table over the whole range.
      return { chart, before, report: chart.by === group ? chart.report : await read(group) };
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

function Report(props: {
  report: UsageReportView;
  chart: Series<Row, UsageGroup>;
  before: readonly (readonly Row[])[] | undefined;
  range: Range;
  group: UsageGroup;
  measure: Measure;
  base: Base;
}) {
  const { report, chart, before, range, group, measure, base } = props;
  const { total } = chart.report;
  if (total.calls === 0 && (total.refused ?? 0) === 0) {
    return (
      <Empty title="No calls in this range">
        <p>Choose another range.</p>
      </Empty>
    );
  }
  return (
    <>
      <UsageChart of={chart} {...{ before, range, measure }} nameOf={(row) => nameOf(row, chart.by)} />
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
          <tr key={id} className="compact facts">
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
            <td className="number compact-figure">
              <Amount of={spent} isInRow />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
