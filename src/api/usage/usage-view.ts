import type { MarginGroup, UsageRow } from '../../book/book.ts';
import { creditsString } from '../../domain/credits.ts';
import { dayString } from '../../domain/period.ts';
import type { Usage } from '../../domain/units.ts';
import { usageView } from '../ledger/entry-view.ts';
import { USAGE_FIELDS, type UsageGroup, type UsageReport } from '../ledger/ledger-schema.ts';
import type { Static } from '../openapi/json-type.ts';

export type { UsageGroup } from '../ledger/ledger-schema.ts';

/** A report of usage in whole UTC days (specification section 7); `from` and `to` are both included. */
export type UsageReportView = Static<typeof UsageReport>;
/** The sums of one group. A row has one of `day`, `key_id` and `model`: the field that the report is grouped by. */
export type UsageRowView = UsageReportView['rows'][number];
export type SumsView = UsageReportView['total'];

/** The view of a report. `from` and `to` are days since 1970-01-01 UTC. */
export function usageReportView(
  { from, to }: { readonly from: number; readonly to: number },
  group: UsageGroup,
  rows: readonly UsageRow[],
): UsageReportView {
  return {
    from: dayString(from),
    to: dayString(to),
    group_by: group,
    rows: rows.map((row) => ({ [USAGE_FIELDS[group]]: row.group, ...sumsView(group, row) })),
    total: sumsView(group, totalOf(rows)),
  };
}

type Sums = Omit<UsageRow, 'group'>;

function sumsView(group: UsageGroup, sums: Sums): SumsView {
  const { calls, credits, usage } = sums;
  return { calls, ...endsView(group, sums), credits: creditsString(credits), usage: usageView(usage) };
}

/** Failed and refused calls, in reports by key or by day (specification section 14). */
export function endsView(
  group: UsageGroup | MarginGroup,
  { failed, refused }: Pick<UsageRow, 'failed' | 'refused'>,
): { failed?: number; refused?: number } {
  return group === 'key' || group === 'day' ? { failed, refused } : {};
}

function totalOf(rows: readonly UsageRow[]): Sums {
  const usage: Usage = {};
  for (const row of rows) addUsage(usage, row.usage);
  return {
    calls: rows.reduce((sum, row) => sum + row.calls, 0),
    failed: rows.reduce((sum, row) => sum + row.failed, 0),
    refused: rows.reduce((sum, row) => sum + row.refused, 0),
    credits: rows.reduce((sum, row) => sum + row.credits, 0n),
    usage,
  };
}

/** Adds what another group used. Seconds may be fractions, and 0.1 + 0.2 should read 0.3. */
export function addUsage(sums: Usage, usage: Usage): void {
  for (const [unit, amount] of Object.entries(usage) as [keyof Usage, number][]) {
    const sum = (sums[unit] ?? 0) + amount;
    sums[unit] = Number.isInteger(sum) ? sum : Number(sum.toFixed(6));
  }
}
