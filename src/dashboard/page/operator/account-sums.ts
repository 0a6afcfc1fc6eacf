import type { MarginRowView } from '../../../api/operator/margin-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
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
  const report = await readByDay(signal);
  const byAccount = Map.groupBy(report.rows, ({ account_id }) => account_id ?? 0);
  return new Map([...byAccount].map(([id, rows]) => [id, sumsOf(rows)]));
}

/** Sums by day and account; of more rows than a report has, those of accounts alone, which tell no days. */
async function readByDay(signal: AbortSignal) {
  const report = (group_by: string) => readUsageOfAll({ group_by, from: '', to: '' }, signal);
  try {
    return await report('day,account');
  } catch (error) {
    if (error instanceof ApiFailure && error.code === 'invalid_field') return await report('account');
    throw error;
  }
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
