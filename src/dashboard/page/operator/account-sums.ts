import type { MarginRowView } from '../../../api/operator/margin-view.ts';
import { readUsageOfAll } from '../api/operator.ts';
import { daysLeft, sumOf } from '../home/pace.ts';

/** What an account spent in the last 30 UTC days, and how long its balance lasts at the pace of the last seven. */
export interface AccountSums {
  readonly email: string;
  readonly spent: string;
  /** Last UTC day with a call. */
  readonly lastUsed: string;
  readonly daysLeft: (balance: number) => number | undefined;
}

/** Sums by account id of those that had calls in the last 30 UTC days. */
export async function readAccountSums(signal: AbortSignal): Promise<ReadonlyMap<number, AccountSums>> {
  const report = await readUsageOfAll({ group_by: 'day,account', from: '', to: '' }, signal);
  const byAccount = Map.groupBy(report.rows, ({ account_id }) => account_id ?? 0);
  return new Map([...byAccount].map(([id, rows]) => [id, sumsOf(rows)]));
}

function sumsOf(rows: readonly MarginRowView[]): AccountSums {
  const days = rows.map((row) => ({ ...row, credits: row.charged }));
  return {
    email: String(rows[0]?.email ?? ''),
    spent: sumOf(rows.map(({ charged }) => charged)),
    lastUsed:
      rows
        .map(({ day = '' }) => day)
        .toSorted()
        .at(-1) ?? '',
    daysLeft: (balance) => daysLeft(balance, days, Date.now()),
  };
}
