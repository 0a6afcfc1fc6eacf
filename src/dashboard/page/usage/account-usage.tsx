import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { type Base, OWN, readUsageOf } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { sumOf } from '../home/pace.ts';
import { chartRows } from '../home/spend-chart.tsx';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { announce } from '../ui/announcements.tsx';
import { Empty } from '../ui/elements.tsx';
import { Choice } from '../ui/filters.tsx';
import { dayOf, type Range, RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Shown } from '../ui/shown.tsx';
import { StackedChart } from '../ui/stacked-chart.tsx';
import { Table } from '../ui/table.tsx';
import { chargeOf, MEASURE_CHOICES, MEASURES, type Measure, measureIn, tokensOf } from './measures.ts';
import { usageCsv } from './usage-csv.ts';

export type UsageGroup = 'model' | 'key';
type Row = UsageReportView['rows'][number];

const GROUP_NAMES: Readonly<Record<UsageGroup, string>> = { model: 'Model', key: 'Key' };
const DAY_MS = 86_400_000;

/** Spend, calls, tokens or errors of an account over a range, by model or key, with the span before and an export. */
export function AccountUsage({ of: base, groups }: { of: Base; groups: readonly UsageGroup[] }) {
  const range = rangeOf(query.value);
  const group = groups.find((known) => known === query.value.get('group_by')) ?? 'model';
  const measure = measureIn(query.value);
  const unit = range.name === '24h' ? 'hour' : 'day';
  const loaded = useLoad(
    async (signal) => {
      const [report, before] = await Promise.all([
        readUsageOf(base, { group_by: `${unit},${group}`, ...usageRange(range) }, signal),
        readBefore(base, range, signal),
      ]);
      return { report, before };
    },
    JSON.stringify([base, group, range.name, usageRange(range)]),
  );
  return (
    <>
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
      <Shown of={loaded}>
        {({ report, before }) => <Report {...{ report, before, range, group, measure, base }} />}
      </Shown>
    </>
  );
}

/** The sums of the span of the same length before a range of days; undefined for hours. */
async function readBefore(base: Base, range: Range, signal: AbortSignal) {
  const span = spanBefore(range);
  return span && (await readUsageOf(base, { group_by: 'day', ...span }, signal)).total;
}

/** The UTC days of the same length before a range of days; undefined for hours, and for a range with an open end. */
export function spanBefore({ name, from, to }: Range): { from: string; to: string } | undefined {
  if (name === '24h' || from === '' || to === '') return undefined;
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return { from: dayOf(first - (last - first) - DAY_MS), to: dayOf(first - DAY_MS) };
}

function Report(props: {
  report: UsageReportView;
  before: UsageReportView['total'] | undefined;
  range: Range;
  group: UsageGroup;
  measure: Measure;
  base: Base;
}) {
  const { report, before, range, group, measure, base } = props;
  const { name, of, format } = MEASURES[measure];
  const { total } = report;
  if (total.calls === 0 && (total.refused ?? 0) === 0) {
    return (
      <Empty title="No calls in this range">
        <p>Choose another range.</p>
      </Empty>
    );
  }
  const title = `${name} by ${group}`;
  return (
    <>
      <section className="card">
        <div className="card-head">
          <h2>{title}</h2>
          <p className="hint">
            {format(of(total))} in all{before && <>, {format(of(before))} in the span before</>}
          </p>
        </div>
        <StackedChart
          title={title}
          axis={range.name === '24h' ? 'Hour' : 'Day (UTC)'}
          rows={chartRows(report, range, of, (row) => nameOf(row, group))}
          format={format}
        />
      </section>
      <div className="actions export">
        <button
          type="button"
          onClick={() => {
            saveFile(usageCsv(report), 'usage.csv');
            announce('Usage exported.');
          }}
        >
          Export CSV
        </button>
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
  const sum = (of: readonly Row[], amountOf: (row: Row) => number) =>
    of.reduce((total, row) => total + amountOf(row), 0);
  return (
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
      {groups.map(({ id, of, spent, name }) => (
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
          <td className="number">{count(sum(of, ({ calls }) => calls))}</td>
          <td className="number">{count(sum(of, ({ refused = 0 }) => refused))}</td>
          <td className="number">{count(sum(of, ({ failed = 0 }) => failed))}</td>
          <td className="number">{count(sum(of, ({ usage }) => tokensOf(usage)))}</td>
          <td className="number">
            <Amount of={spent} isInRow />
          </td>
        </tr>
      ))}
    </Table>
  );
}
