import { invalidField } from '../../domain/errors.ts';
import { parseDay } from '../../domain/period.ts';
import { type Query, textParam } from '../http/query.ts';
import { DEFAULT_REPORT_DAYS, MOST_REPORT_DAYS } from '../ledger/ledger-schema.ts';

const DAY_MS = 86_400_000;

/** A range of UTC days, counted from 1970-01-01; both ends are included. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/**
 * `from` and `to` of a usage report, both included; by default the 30 days up to today. `now` is in milliseconds since
 * the epoch. Throws `invalid_field` for a text that is no date, for a range that runs backwards, and for more than 366
 * days.
 */
export function usageDays(query: Query, now: number): DayRange {
  const to = dayParam(query, 'to') ?? Math.floor(now / DAY_MS);
  const from = dayParam(query, 'from') ?? Math.max(0, to - DEFAULT_REPORT_DAYS + 1);
  if (from > to) throw invalidField('from', 'from must not be later than to (default: today, UTC).');
  if (to - from >= MOST_REPORT_DAYS)
    throw invalidField('from', `A report can cover at most ${MOST_REPORT_DAYS} days.`);
  return { from, to };
}

/** `from` and `to` of a ledger query, both included; an end that is not given is open. Throws `invalid_field`. */
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
  // There were no calls before 1970; without this bound, the default 30 days might begin before year 0.
  if (day === undefined || day < 0)
    throw invalidField(name, `${name} must be a date in the form YYYY-MM-DD.`);
  return day;
}
