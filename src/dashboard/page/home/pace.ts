import { creditsString } from '../../../domain/credits.ts';

const DAY_MS = 86_400_000;

/** Sums of a UTC day. */
export interface DaySums {
  readonly day?: string | undefined;
  readonly calls: number;
  readonly credits: string;
  readonly refused?: number | undefined;
  readonly failed?: number | undefined;
}

/** Spend of a span of days, and of the span of the same length before it. */
export interface Pace {
  readonly spent: string;
  readonly before: string;
}

/** Sum of decimal strings, exact. */
export function sumOf(amounts: readonly string[]): string {
  return creditsString(amounts.reduce((sum, amount) => sum + microOf(amount), 0n));
}

/** Spend of the last `days` UTC days, today included, and of as many days before. `rows` are sums by day. */
export function paceOf(rows: readonly DaySums[], days: number, now: number): Pace {
  const within = (from: number, to: number) =>
    sumOf(rows.filter(({ day }) => isWithin(age(day, now), from, to)).map(({ credits }) => credits));
  return { spent: within(0, days), before: within(days, 2 * days) };
}

/** Change against the span before, in percent; undefined if nothing was spent then. */
export function changeOf({ spent, before }: Pace): number | undefined {
  const base = Number(before);
  return base === 0 ? undefined : Math.round(((Number(spent) - base) / base) * 100);
}

/**
 * Days that a balance lasts: balance ÷ (spend of the last seven days ÷ 7, or ÷ the days since the first call if fewer).
 * Undefined if nothing was spent, or nothing is left (specification section 8).
 */
export function daysLeft(balance: number, rows: readonly DaySums[], now: number): number | undefined {
  const spent = Number(paceOf(rows, 7, now).spent);
  if (spent <= 0 || balance <= 0) return undefined;
  const first = Math.max(...rows.filter(({ calls }) => calls > 0).map(({ day }) => age(day, now)), 0);
  return balance / (spent / Math.min(7, first + 1));
}

/** Calls with the shares that were refused and failed, between 0 and 1 (specification section 8). */
export function endsOf(rows: readonly DaySums[]): { calls: number; refused: number; failed: number } {
  const sum = (of: (row: DaySums) => number) => rows.reduce((total, row) => total + of(row), 0);
  const [calls, refused, failed] = [
    sum((row) => row.calls),
    sum((row) => row.refused ?? 0),
    sum((row) => row.failed ?? 0),
  ];
  const all = calls + refused;
  return { calls, refused: all === 0 ? 0 : refused / all, failed: all === 0 ? 0 : failed / all };
}

/** Days between a UTC day and today: 0 for today. */
function age(day: string | undefined, now: number): number {
  return Math.floor(now / DAY_MS) - Math.floor(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

function isWithin(value: number, from: number, to: number): boolean {
  return value >= from && value < to;
}

function microOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
