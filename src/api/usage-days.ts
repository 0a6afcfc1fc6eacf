import { invalidField } from '../domain/errors.ts';
import { parseDay } from '../domain/period.ts';
import { type Query, textParam } from './query.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
/** The longest report, in days: a leap year. */
const MAX_DAYS = 366;

/** Whole UTC days as days since 1970-01-01; both ends included. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/**
 * `from` and `to` of a usage report, both included; default the 30 days up to today. Throws `invalid_field` for what
 * is not a date of the calendar, a range that runs backwards, and one of more than 366 days.
 */
export function usageDays(query: Query, now: number): DayRange {
  const to = dayParam(query, 'to') ?? Math.floor(now / DAY_MS);
  const from = dayParam(query, 'from') ?? Math.max(0, to - DEFAULT_DAYS + 1);
  if (from > to) throw invalidField('from', 'from must not be later than to (default: today, UTC).');
  if (to - from >= MAX_DAYS) throw invalidField('from', `A report covers at most ${MAX_DAYS} days.`);
  return { from, to };
}

/** `from` and `to` of a ledger, both included; each alone leaves the other end open. Throws `invalid_field`. */
export function ledgerDays(query: Query): Partial<DayRange> {
  const from = dayParam(query, 'from');
  const to = dayParam(query, 'to');
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidField('from', 'from must not be later than to.');
  }
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

function dayParam(query: Query, name: string): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const day = parseDay(text);
  // There were no calls before 1970, and a range that ends there might begin before year 0.
  if (day === undefined || day < 0)
    throw invalidField(name, `${name} must be a date in the form YYYY-MM-DD.`);
  return day;
}
