import type { UsageByRow, UsagePlace, UsageRow } from '../../book/book.ts';
import { creditsString } from '../../domain/credits.ts';
import { dayString } from '../../domain/period.ts';
import type { Usage } from '../../domain/units.ts';
import { usageView } from '../ledger/entry-view.ts';
import { MARGIN_FIELDS, type UsageGroup, type UsageReport } from '../ledger/ledger-schema.ts';
import type { Static } from '../openapi/json-type.ts';

export type { UsageGroup } from '../ledger/ledger-schema.ts';

/** A report of usage in whole UTC days (specification section 7); `from` and `to` are both included. */
export type UsageReportView = Static<typeof UsageReport>;
export type SumsView = UsageReportView['total'];

/** Names that rows carry beside ids. */
export interface Names {
  readonly keys: ReadonlyMap<number, string>;
  readonly emails: ReadonlyMap<number, string>;
}

/** The view of a report. `from` and `to` are days since 1970-01-01 UTC. */
export function usageReportView(
  { from, to }: { readonly from: number; readonly to: number },
  groups: readonly UsageGroup[],
  rows: readonly Omit<UsageByRow, 'cost' | 'costed'>[],
  names: Names,
): UsageReportView {
  return {
    from: dayString(from),
    to: dayString(to),
    group_by: groups.join(','),
    rows: rows.map((row) => ({ ...placesView(groups, row.groups, names), ...sumsView(groups, row) })),
    total: sumsView(groups, totalOf(rows)),
  };
}

/** The fields that name the group of a row. */
export function placesView(
  groups: readonly UsagePlace[],
  values: readonly UsageRow['group'][],
  { keys, emails }: Names,
): Record<string, string | number | null> {
  const view: Record<string, string | number | null> = {};
  for (const [at, group] of groups.entries()) {
    const value = values[at] ?? null;
    view[MARGIN_FIELDS[group]] = value;
    if (group === 'key') view.key_name = keys.get(Number(value)) ?? null;
    if (group === 'account') view.email = emails.get(Number(value)) ?? null;
  }
  return view;
}

type Sums = Omit<UsageRow, 'group'>;

function sumsView(groups: readonly UsageGroup[], sums: Sums): SumsView {
  const { calls, credits, usage } = sums;
  return { calls, ...endsView(groups, sums), credits: creditsString(credits), usage: usageView(usage) };
}

/** Failed and refused calls, in reports by key, day or hour (specification section 14). */
export function endsView(
  groups: readonly UsagePlace[],
  { failed, refused }: Pick<UsageRow, 'failed' | 'refused'>,
): { failed?: number; refused?: number } {
  const has = groups.some((group) => group === 'key' || group === 'day' || group === 'hour');
  return has ? { failed, refused } : {};
}

function totalOf(rows: readonly Sums[]): Sums {
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
