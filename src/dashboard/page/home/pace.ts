import { creditsString } from '../../../domain/credits.ts';
import { count } from '../format/credits.ts';

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

/** Requests of the last `days` UTC days by result. The ledger's calls leave out those that the gateway refused. */
export function resultsOf(rows: readonly DaySums[], days: number, now: number) {
  const recent = rows.filter(({ day }) => isWithin(age(day, now), 0, days));
  const sum = (of: (row: DaySums) => number) => recent.reduce((total, row) => total + of(row), 0);
  const refused = sum((row) => row.refused ?? 0);
  const failed = sum((row) => row.failed ?? 0);
  const ok = sum((row) => row.calls) - failed;
  return { all: ok + refused + failed, ok, refused, failed };
}

/** UTC day of a moment, `2026-11-24`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** `about 12 days`; `less than a day`; beyond two years nobody counts. */
export function daysInWords(days: number): string {
  if (days < 1) return 'less than a day';
  if (days > 730) return 'more than 2 years';
  const whole = Math.floor(days);
  return `about ${count(whole)} ${whole === 1 ? 'day' : 'days'}`;
}

const MOST_PERCENTS = 999;

/** A change in percent: `▲ 12%`. Beyond ten times as much, the number says nothing. */
export function changeWords(percents: number): string {
  const sign = percents > 0 ? '▲ ' : percents < 0 ? '▼ ' : '';
  return percents > MOST_PERCENTS ? `${sign}>${MOST_PERCENTS}%` : `${sign}${count(Math.abs(percents))}%`;
}

/** A part of a whole: `4.2%`; what is not nothing is never `0%`. */
export function percent(part: number, whole: number): string {
  const rounded = whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10;
  return part > 0 && rounded === 0 ? '<0.1%' : `${count(rounded)}%`;
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
