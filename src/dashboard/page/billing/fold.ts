import type { EntryView } from '../../../api/ledger/entry-view.ts';
import { dayOf, sumOf } from '../home/pace.ts';

/** Months that can be chosen. */
const MOST_MONTHS = 24;

/** A line of a statement: the charges of a day as one, or another entry. */
export interface Line {
  readonly id: string;
  /** UTC day. */
  readonly day: string;
  readonly credits: string;
  /** Requests that the line sums up; undefined for a single entry. */
  readonly calls?: number;
  readonly entry?: EntryView;
}

export interface Statement {
  /** The newest first. */
  readonly lines: readonly Line[];
  /** Requests of days on which nothing was charged. */
  readonly free: number;
  /** Exact sums by type, and of all. */
  readonly sums: Readonly<Record<'top_up' | 'adjustment' | 'charge' | 'refund' | 'change', string>>;
}

/**
 * Folds a month: `days` are its sums by day, charges less refunds; `entries` are its top-ups, adjustments and refunds.
 */
export function statementOf(
  days: readonly { readonly day?: string; readonly calls: number; readonly credits: string }[],
  entries: readonly EntryView[],
): Statement {
  const charged = days.filter(({ credits }) => !isZero(credits));
  const free = days.filter(({ credits }) => isZero(credits)).reduce((sum, { calls }) => sum + calls, 0);
  const single = entries.filter(({ type }) => type !== 'refund');
  const lines: Line[] = [
    ...single.map((entry) => ({
      id: entry.id,
      day: dayOf(Date.parse(entry.created_at)),
      credits: entry.credits,
      entry,
    })),
    ...charged.map(({ day = '', calls, credits }) => ({ id: day, day, calls, credits: negated(credits) })),
  ];
  const sum = (type: EntryView['type']) =>
    sumOf(entries.flatMap((entry) => (entry.type === type ? [entry.credits] : [])));
  const refund = sum('refund');
  const net = negated(sumOf(days.map(({ credits }) => credits)));
  const [top_up, adjustment] = [sum('top_up'), sum('adjustment')];
  return {
    lines: lines.toSorted((one, other) => other.day.localeCompare(one.day)),
    free,
    sums: {
      top_up,
      adjustment,
      charge: sumOf([net, negated(refund)]),
      refund,
      change: sumOf([top_up, adjustment, net]),
    },
  };
}

/** The charges and refunds among entries of a day; `free` counts those that changed nothing. */
export function foldedDay(entries: readonly EntryView[]) {
  const charges = entries.filter(({ type }) => type !== 'top_up' && type !== 'adjustment');
  const shown = charges.filter(({ credits }) => !isZero(credits));
  return { shown, free: charges.length - shown.length, sum: sumOf(shown.map(({ credits }) => credits)) };
}

function isZero(amount: string): boolean {
  return !/[1-9]/.test(amount);
}

function negated(amount: string): string {
  if (isZero(amount)) return amount;
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
}

/** UTC months from that of a timestamp to now, the latest first: `2026-11`. */
export function monthsSince(since: string, now: number): string[] {
  const [first, months] = [since.slice(0, 7), [] as string[]];
  const at = new Date(dayOf(now));
  at.setUTCDate(1);
  do {
    months.push(dayOf(at.getTime()).slice(0, 7));
    at.setUTCMonth(at.getUTCMonth() - 1);
  } while (months.length < MOST_MONTHS && dayOf(at.getTime()).slice(0, 7) >= first);
  return months;
}

/** First and last UTC day of a month. */
export function spanOf(month: string): { from: string; to: string } {
  const end = new Date(`${month}-01`);
  end.setUTCMonth(end.getUTCMonth() + 1, 0);
  return { from: `${month}-01`, to: dayOf(end.getTime()) };
}

/** `November 2026`. */
export function monthName(month: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01`));
}
