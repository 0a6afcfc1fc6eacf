import type { MarginReportView, MarginRowView, MarginSumsView } from '../../../api/operator/margin-view.ts';
import { wordsOf } from '../api/failure.ts';
import { exportUsageOfAll, readUsageOfAll, type UsageChoice } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { usageWords } from '../format/usage.ts';
import { sumOf } from '../home/pace.ts';
import { chartRows } from '../home/spend-chart.tsx';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { announce } from '../ui/announcements.tsx';
import { Empty } from '../ui/elements.tsx';
import { Choice } from '../ui/filters.tsx';
import { PageFrame } from '../ui/page.tsx';
import { type Range, RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Shown } from '../ui/shown.tsx';
import { StackedChart } from '../ui/stacked-chart.tsx';
import { Table } from '../ui/table.tsx';
import { spanBefore } from '../usage/account-usage.tsx';
import { MEASURE_CHOICES, MEASURES, type Measure, measureIn } from '../usage/measures.ts';

const GROUPS = [
  ['account', 'Account'],
  ['key', 'Key'],
  ['model', 'Model'],
  ['upstream', 'Provider'],
  ['day', 'Day (UTC)'],
] as const;
type Group = (typeof GROUPS)[number][0];

/** Rows that are drawn; the export has all of them. */
const SHOWN = 500;

/** What all accounts used and were charged, with the cost and the margin where the price list tells them. */
export function Usage() {
  const range = rangeOf(query.value);
  const group = GROUPS.find(([known]) => known === query.value.get('group_by'))?.[0] ?? 'account';
  const measure = measureIn(query.value);
  const isHours = range.name === '24h';
  const unit = isHours ? 'hour' : 'day';
  const choice: UsageChoice = {
    group_by: !isHours ? group : group === 'day' ? 'hour' : `hour,${group}`,
    ...usageRange(range),
  };
  // Accounts and keys have no bounded number: over time, their sums are shown by model.
  const series = group === 'upstream' ? 'upstream' : 'model';
  const loaded = useLoad(
    async (signal) => {
      const span = spanBefore(range);
      const [report, chart, before] = await Promise.all([
        readUsageOfAll(choice, signal),
        readUsageOfAll({ ...choice, group_by: `${unit},${series}` }, signal),
        span && readUsageOfAll({ group_by: 'day', ...span }, signal),
      ]);
      return { report, chart, before: before?.total };
    },
    JSON.stringify([choice, range.name]),
  );
  return (
    <PageFrame title="Usage" actions={<Export of={choice} />}>
      <search className="filters">
        <Choice
          label="Group by"
          value={group}
          choices={GROUPS}
          onValue={(value) => choose({ group_by: value === 'account' ? '' : value })}
        />
        <Choice
          label="Show"
          value={measure}
          choices={MEASURE_CHOICES}
          onValue={(value) => choose({ measure: value === 'spend' ? '' : value })}
        />
      </search>
      <RangePicker />
      <Shown of={loaded}>
        {({ report, chart, before }) =>
          report.rows.length === 0 ? (
            <Empty title="No calls in this range">
              <p>Choose another range.</p>
            </Empty>
          ) : (
            <>
              <Chart of={chart} {...{ before, range, series, measure }} />
              <Report of={report} group={group} isHours={isHours} />
            </>
          )
        }
      </Shown>
    </PageFrame>
  );
}

/** A measure over the range, stacked by model or provider, with its sum and that of the span before. */
function Chart(props: {
  of: MarginReportView;
  before: MarginSumsView | undefined;
  range: Range;
  series: 'upstream' | 'model';
  measure: Measure;
}) {
  const { of: report, before, range, series, measure } = props;
  const { name, of, format } = MEASURES[measure];
  const title = `${name} by ${series === 'model' ? 'model' : 'provider'}`;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
        <p className="hint">
          {format(of(report.total))} in all{before && <>, {format(of(before))} in the span before</>}
        </p>
      </div>
      <StackedChart
        title={title}
        axis={range.name === '24h' ? 'Hour' : 'Day (UTC)'}
        rows={chartRows(report, range, of, (row) => row[series] ?? 'none')}
        format={format}
      />
    </section>
  );
}

function Report({ of, group, isHours }: { of: MarginReportView; group: Group; isHours: boolean }) {
  const { from, to, total } = of;
  const rows = isHours ? byGroup(of.rows) : of.rows;
  const span = isHours
    ? 'The last 24 hours.'
    : `${dayName(from)} to ${dayName(to)} ${to.slice(0, 4)}, days of UTC.`;
  const name = GROUPS.find(([known]) => known === group)?.[1] ?? 'Group';
  return (
    <>
      <p className="hint">
        {span} Cost is what providers take by the price list; the margin is what is left of the charges whose
        cost is known.
        {rows.length > SHOWN && ` The first ${SHOWN} of ${count(rows.length)} rows: the export has all.`}
      </p>
      <Table
        label="Usage"
        columns={[
          isHours && group === 'day' ? 'Hour (UTC)' : name,
          ['Calls', 'number'],
          ['Charged', 'number'],
          ['Cost coverage', 'number'],
          ['Cost', 'number'],
          ['Margin', 'number'],
          ['Used', 'wide-only'],
        ]}
      >
        <tr className="total">
          <th scope="row">All</th>
          <Sums of={total} />
        </tr>
        {rows.slice(0, SHOWN).map((row) => (
          <tr key={groupOf(row)}>
            <th scope="row" className="clip">
              <GroupName of={row} />
            </th>
            <Sums of={row} />
          </tr>
        ))}
      </Table>
    </>
  );
}

function groupOf({ account_id, key_id, model, upstream, day, hour }: MarginRowView): string {
  return String(account_id ?? key_id ?? model ?? upstream ?? day ?? hour ?? 'none');
}

/** A row for each group of a report that has one for each of its hours; hours that are the group stay rows. */
function byGroup(rows: readonly MarginRowView[]): MarginRowView[] {
  return [...Map.groupBy(rows, groupOf).values()].map((of) => {
    const costed = of.filter(({ cost }) => cost !== null);
    const sum = (amounts: readonly (string | null)[]) => sumOf(amounts.map((amount) => amount ?? '0'));
    const usage: Record<string, number> = {};
    for (const row of of) {
      for (const [unit, amount] of Object.entries(row.usage)) usage[unit] = (usage[unit] ?? 0) + amount;
    }
    return {
      ...(of[0] as MarginRowView),
      calls: of.reduce((all, { calls }) => all + calls, 0),
      charged: sum(of.map(({ charged }) => charged)),
      charged_with_cost: sum(of.map(({ charged_with_cost }) => charged_with_cost)),
      cost: costed.length === 0 ? null : sum(costed.map(({ cost }) => cost)),
      margin: costed.length === 0 ? null : sum(costed.map(({ margin }) => margin)),
      usage,
    };
  });
}

function GroupName({ of: row }: { of: MarginRowView }) {
  if (row.account_id != null)
    return <a href={`#/accounts/${row.account_id}`}>{row.email ?? `No. ${row.account_id}`}</a>;
  if (row.key_id != null) return <>{row.key_name ?? `No. ${row.key_id}`}</>;
  if (row.day !== undefined) return <>{dayName(row.day)}</>;
  if (isHour(row)) return <>{row.hour.slice(11, 16)}</>;
  return <>{groupOf(row)}</>;
}

/** True where the hour is the group, and not one of a group's. */
function isHour(row: MarginRowView): row is MarginRowView & { hour: string } {
  return row.hour !== undefined && groupOf(row) === row.hour;
}

function Sums({ of: sums }: { of: MarginSumsView }) {
  return (
    <>
      <td className="number">{count(sums.calls)}</td>
      <td className="number">
        <Amount of={sums.charged} isInRow />
      </td>
      <td className="number">
        <Amount of={sums.charged_with_cost} isInRow />
      </td>
      <td className="number">{sums.cost === null ? '–' : <Amount of={sums.cost} isInRow />}</td>
      <td className="number">{sums.margin === null ? '–' : <Amount of={sums.margin} isInRow />}</td>
      <td className="used wide-only clip" title={usageWords(sums.usage)}>
        {usageWords(sums.usage) || '–'}
      </td>
    </>
  );
}

/** Saves the whole report, as it is chosen, to a file. */
function Export({ of: choice }: { of: UsageChoice }) {
  const action = useAction(async () => {
    saveFile(await exportUsageOfAll(choice), 'usage.csv');
    announce('Report exported.');
  });
  return (
    <>
      <button type="button" disabled={action.isBusy} onClick={() => action.run()}>
        Export CSV
      </button>
      {action.error !== undefined && (
        <p className="field-error" role="alert">
          {wordsOf(action.error)}
        </p>
      )}
    </>
  );
}
