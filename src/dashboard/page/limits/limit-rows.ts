import type { LimitPeriod } from '../../../domain/limit-periods.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { credits } from '../format/credits.ts';
import { readAmount } from '../format/read-amount.ts';

/** A spending limit as it is typed. */
export interface LimitRow {
  readonly period: LimitPeriod;
  readonly credits: string;
  /** True for the limit that a key has as `spending_limit` and `spending_period`, outside its list. */
  readonly isPair?: boolean;
}

/** Names of the periods after an amount: "12.50 credits a month". */
export const PER: Readonly<Record<LimitPeriod, string>> = {
  '5h': 'in 5 hours (from the first call)',
  daily: 'a day (UTC)',
  weekly: 'a week (from Monday, UTC)',
  monthly: 'a month (UTC)',
  total: 'in total',
};
/** Periods in the order in which new rows take them. */
export const OFFERED: readonly LimitPeriod[] = ['monthly', 'weekly', 'daily', '5h', 'total'];
export const FIELD = 'spending_limits';

/** A limit in words: `12.50 credits a day (UTC)`. */
export function limitWords({ period, credits: amount }: WireLimit): string {
  return `${credits(amount)} credits ${PER[period]}`;
}

export function limitRows(limits: readonly WireLimit[]): LimitRow[] {
  return limits.map(({ period, credits }) => ({ period, credits: String(credits) }));
}

/** The limits of typed rows; an empty row is none. Throws an ApiFailure that names the field for the first wrong row. */
export function readLimitRows(rows: readonly LimitRow[]): WireLimit[] {
  const typed = rows.filter(({ credits }) => credits.trim() !== '');
  return typed.map(({ period, credits }) => ({ period, credits: readAmount('The limit', credits, FIELD) }));
}

/** The fault of a row; undefined if it has none. */
export function faultOf(row: LimitRow): string | undefined {
  try {
    readLimitRows([row]);
    return undefined;
  } catch (error) {
    if (error instanceof ApiFailure) return error.message;
    throw error;
  }
}
