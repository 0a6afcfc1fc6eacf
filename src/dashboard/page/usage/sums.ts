import type { UsageView } from '../../../api/ledger/entry-view.ts';
import type { MarginRowView } from '../../../api/operator/margin-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { rounded } from '../format/amount.ts';
import { count } from '../format/credits.ts';
import { dayOf, sumOf } from '../home/pace.ts';
import type { Bucket, Series } from '../ui/chart-bars.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Colors of the chart, less one for the sum of the others. */
const SERIES_SHOWN = 6;

/** A row of a report. Only the operator's have an account, a provider, and a cost. */
export type ReportRow = Omit<UsageReportView['rows'][number], 'credits'> & {
  readonly credits?: string;
} & Partial<MarginRowView>;

export interface Report extends Pick<UsageReportView, 'from' | 'to' | 'group_by'> {
  readonly rows: readonly ReportRow[];
  readonly total: ReportRow;
}

/** What rows are grouped by: a word of the API, or the hours or days of the report. */
export type Group = 'model' | 'key' | 'account' | 'upstream' | 'time';

export const GROUP_NAMES: Readonly<Record<Group, string>> = {
  account: 'Account',
  key: 'Key',
  model: 'Model',
  upstream: 'Provider',
  time: 'Day',
};

/** Sums of a group. `row` is one of its rows, which names it; undefined: the total. */
export interface Sums {
  readonly id: string;
  readonly row: ReportRow | undefined;
  readonly requests: number;
  readonly refused: number | undefined;
  readonly failed: number | undefined;
  readonly tokens: number;
  readonly credits: string;
  readonly charged_with_cost: string;
  /** Null: unknown for all of its calls. */
  readonly cost: string | null;
  readonly margin: string | null;
  readonly usage: UsageView;
}

export type Measure = 'credits' | 'requests' | 'tokens' | 'cost' | 'margin';

/** What the chart can show. */
export const MEASURES: Readonly<
  Record<Measure, { name: string; of: (sums: Sums) => number; format: (value: number) => string }>
> = {
  credits: { name: 'Credits', of: ({ credits }) => Number(credits), format: rounded },
  requests: { name: 'Requests', of: ({ requests }) => requests, format: count },
  tokens: { name: 'Tokens', of: ({ tokens }) => tokens, format: count },
  cost: { name: 'Cost', of: ({ cost }) => Number(cost), format: rounded },
  margin: { name: 'Margin', of: ({ margin }) => Number(margin), format: rounded },
};

/** Id of the group that a row belongs to. Keys and accounts are told apart by their ids, because names recur. */
function groupId(row: ReportRow, group: Group): string {
  if (group === 'time') return row.hour ?? row.day ?? '';
  const { key_id, account_id, model, upstream } = row;
  return String({ key: key_id, account: account_id, model, upstream }[group] ?? '');
}

/** Sums of each group, exact. */
export function groupsOf(rows: readonly ReportRow[], group: Group): Sums[] {
  return [...Map.groupBy(rows, (row) => groupId(row, group))].map(([id, of]) => sumsOf(of, id));
}

export function sumsOf(rows: readonly ReportRow[], id = ''): Sums {
  const sum = (of: (row: ReportRow) => number | undefined) =>
    rows.reduce((all, row) => all + (of(row) ?? 0), 0);
  const known = <Value>(of: (row: ReportRow) => Value | null | undefined) =>
    rows.flatMap((row) => of(row) ?? []);
  const exact = (amounts: readonly string[]) => (amounts.length === 0 ? null : sumOf(amounts));
  const usage: Record<string, number> = {};
  for (const row of rows) {
    for (const [unit, amount] of Object.entries(row.usage)) usage[unit] = (usage[unit] ?? 0) + amount;
  }
  const hasEnds = rows.some(({ refused }) => refused !== undefined);
  return {
    id,
    row: rows[0],
    // The ledger's calls leave out those that the gateway refused.
    requests: sum(({ calls, refused = 0 }) => calls + refused),
    refused: hasEnds ? sum(({ refused }) => refused) : undefined,
    failed: hasEnds ? sum(({ failed }) => failed) : undefined,
    tokens: sum((row) => tokensOf(row.usage)),
    credits: sumOf(known(({ credits, charged }) => credits ?? charged)),
    charged_with_cost: sumOf(known(({ charged_with_cost }) => charged_with_cost)),
    cost: exact(known(({ cost }) => cost)),
    margin: exact(known(({ margin }) => margin)),
    usage,
  };
}

/** Tokens of all modalities: uncached and cached input, cache writes and output. */
function tokensOf(usage: UsageView): number {
  return Object.entries(usage).reduce(
    (sum, [unit, amount]) => sum + (unit.endsWith('_tokens') ? amount : 0),
    0,
  );
}

/** Series and bars of a measure: the groups that have most of it, and the others as one. */
export function barsOf(
  report: Report,
  group: Group,
  measure: Measure,
  names: ReadonlyMap<string, string>,
  now: number,
): { series: readonly Series[]; buckets: readonly Bucket[] } {
  const { of, name } = MEASURES[measure];
  const by = report.group_by.includes(',') ? group : 'time';
  const groups = by === 'time' ? [] : groupsOf(report.rows, group).filter((sums) => of(sums) !== 0);
  const sorted = groups.toSorted((one, other) => of(other) - of(one));
  const shown = sorted.slice(0, sorted.length > SERIES_SHOWN + 1 ? SERIES_SHOWN : undefined);
  const ids = new Set(shown.map(({ id }) => id));
  const others = sorted.length - shown.length;
  const buckets = timesOf(report, now).map((at) => ({ at, values: {} as Record<string, number> }));
  const byTime = new Map(buckets.map(({ at, values }) => [at, values]));
  for (const row of report.rows) {
    const values = byTime.get(groupId(row, 'time'));
    const id = by === 'time' ? 'all' : groupId(row, group);
    const series = by === 'time' || ids.has(id) ? id : 'others';
    if (values) values[series] = (values[series] ?? 0) + of(sumsOf([row]));
  }
  const series =
    by === 'time'
      ? [{ id: 'all', name }]
      : shown.map((sums) => ({ id: sums.id, name: names.get(sums.id) ?? sums.id }));
  if (others > 0) series.push({ id: 'others', name: `${count(others)} others` });
  return { series, buckets };
}

/** Every hour or day of a report, those without calls too. */
function timesOf({ from, to, group_by }: Report, now: number): string[] {
  const isHours = group_by.startsWith('hour');
  const step = isHours ? HOUR_MS : DAY_MS;
  const end = Math.min(Date.parse(to) + DAY_MS, now);
  // The report of the last 24 hours begins within its first day.
  const isLastDay = isHours && Date.parse(to) - Date.parse(from) === DAY_MS && end === now;
  const last = Math.ceil(end / step) * step;
  const first = isLastDay ? last - DAY_MS : Date.parse(from);
  return Array.from({ length: Math.max(0, (last - first) / step) }, (_, at) => {
    const start = first + at * step;
    return isHours ? new Date(start).toISOString() : dayOf(start);
  });
}

/** A measure in the whole days of a report, and in as many days before it. */
export interface Comparison {
  readonly days: number;
  readonly now: number;
  readonly before: number;
}

/** The span before the whole days of a report, which leave out today; undefined if it has none. */
export function spanBefore({ from, to }: Pick<Report, 'from' | 'to'>, now: number) {
  const end = Math.min(Date.parse(to) + DAY_MS, Date.parse(dayOf(now)));
  const days = (end - Date.parse(from)) / DAY_MS;
  if (days < 1) return undefined;
  const start = Date.parse(from);
  return { days, from: dayOf(start - days * DAY_MS), to: dayOf(start - DAY_MS) };
}

export function compared(report: Report, before: Report, measure: Measure, now: number): Comparison {
  const { of } = MEASURES[measure];
  const today = dayOf(now);
  const whole = report.rows.filter(({ day = '' }) => day < today);
  return {
    days: spanBefore(report, now)?.days ?? 0,
    now: of(sumsOf(whole)),
    before: of(sumsOf(before.rows)),
  };
}
