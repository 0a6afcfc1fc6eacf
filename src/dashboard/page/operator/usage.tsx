import type { MarginReportView, MarginRowView, MarginSumsView } from '../../../api/operator/margin-view.ts';
import { exportUsageOfAll, readUsageOfAll, type UsageChoice } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { percent } from '../home/figures.tsx';
import { sumOf } from '../home/pace.ts';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { Empty } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { Choice } from '../ui/filters.tsx';
import { PageFrame } from '../ui/page.tsx';
import { RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { MEASURE_CHOICES, measureIn, tokensOf } from '../usage/measures.ts';
import { readBefore } from '../usage/span-before.ts';
import { readSeries, UsageChart } from '../usage/usage-chart.tsx';

const GROUPS = [
  ['account', 'Account'],
  ['key', 'Key'],
  ['model', 'Model'],
  ['upstream', 'Provider'],
  ['day', 'Day (UTC)'],
] as const;
type Group = (typeof GROUPS)[number][0];

/** Rows that are drawn; the export has all of them. */
const SHOWN = 100;

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
  const loaded = useLoad(
    async (signal) => {
      const [report, chart, before] = await Promise.all([
        readUsageOfAll(choice, signal),
        readSeries(group === 'day' ? 'model' : group, (by) =>
          readUsageOfAll({ ...choice, group_by: `${unit},${by}` }, signal),
        ),
        readBefore(range, (question) => readUsageOfAll(question, signal)),
      ]);
      return { report, chart: { ...chart, by: SERIES_NAMES[chart.by] }, before };
    },
    JSON.stringify([choice, range.name]),
  );
  return (
    <PageFrame title="Usage" actions={<Export file="usage" read={() => exportUsageOfAll(choice)} />}>
      <div className="toolbar">
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
      </div>
      <Shown of={loaded}>
        {({ report, chart, before }) =>
          report.rows.length === 0 ? (
            <Empty title="No calls in this range">
              <p>Choose another range.</p>
            </Empty>
          ) : (
            <>
              <UsageChart of={chart} {...{ before, range, measure }} nameOf={seriesName} />
              <Report of={report} group={group} isHours={isHours} />
            </>
          )
        }
      </Shown>
    </PageFrame>
  );
}

/** Names of what the chart can be by; that of a provider differs. */
const SERIES_NAMES: Readonly<Record<Exclude<Group, 'day'>, string>> = {
  account: 'account',
  key: 'key',
  model: 'model',
  upstream: 'provider',
};

function seriesName({ account_id, email, key_id, key_name, model, upstream }: MarginRowView): string {
  if (account_id != null) return email ?? `No. ${account_id}`;
  if (key_id != null) return key_name ?? `Key ${key_id}`;
  return model ?? upstream ?? 'none';
}

function Report({ of, group, isHours }: { of: MarginReportView; group: Group; isHours: boolean }) {
  const { from, to, total } = of;
  const rows = isHours ? byGroup(of.rows) : of.rows;
  const span = isHours ? 'The last 24 hours.' : `${dayName(from)} to ${dayName(to)} ${to.slice(0, 4)} (UTC).`;
  const name = GROUPS.find(([known]) => known === group)?.[1] ?? 'Group';
  return (
    <>
      <p className="lead">
        {span} Cost is the provider's price by the price list. Margin is the charge less the cost, for calls
        with a known cost.
        {rows.length > SHOWN && ` The first ${SHOWN} of ${count(rows.length)} rows: the export has all.`}
      </p>
      <Table
        label="Usage"
        columns={[
          isHours && group === 'day' ? 'Hour (UTC)' : name,
          ['Calls', 'number'],
          ['Charged', 'number'],
          ['Cost', 'number'],
          ['Margin', 'number'],
          ['Cost coverage', 'number'],
          ['Tokens', 'number'],
        ]}
      >
        <tr className="total compact facts">
          <th scope="row">All</th>
          <Sums of={total} />
        </tr>
        {rows.slice(0, SHOWN).map((row) => (
          <tr key={groupOf(row)} className="compact facts">
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

/** True if the hour is the group, and not one of a group's. */
function isHour(row: MarginRowView): row is MarginRowView & { hour: string } {
  return row.hour !== undefined && groupOf(row) === row.hour;
}

function Sums({ of: sums }: { of: MarginSumsView }) {
  return (
    <>
      <td className="number">{count(sums.calls)}</td>
      <td className="number compact-figure">
        <Amount of={sums.charged} isInRow />
      </td>
      <td className="number">{sums.cost === null ? '–' : <Amount of={sums.cost} isInRow />}</td>
      <td className="number">{sums.margin === null ? '–' : <Amount of={sums.margin} isInRow />}</td>
      <td className="number compact-hidden">{coverage(sums)}</td>
      <td className="number">{count(tokensOf(sums.usage))}</td>
    </>
  );
}

/** Share of the charges whose cost is known. */
function coverage({ charged, charged_with_cost }: MarginSumsView): string {
  return Number(charged) === 0 ? '–' : percent(Number(charged_with_cost) / Number(charged));
}
