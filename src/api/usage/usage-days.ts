import { invalidField } from '../../domain/errors.ts';
import { DEFAULT_REPORT_DAYS, MOST_HOURLY_DAYS, MOST_REPORT_DAYS } from '../usage/usage-view.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const HOURS = 24;

/** A range of UTC days, counted from 1970-01-01; both ends are included. */
interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** The days of a report, and its `times`: `from` ≤ day or hour (since the epoch) < `to`. */
export interface ReportSpan extends DayRange {
  readonly times: DayRange;
}

/** Days that a query asks for; either can be absent. */
type AskedDays = { readonly from?: number; readonly to?: number };

/** The span of a report by these groups, at `now` in milliseconds since the epoch. Throws `invalid_field`. */
export function reportSpan(days: AskedDays, groups: readonly string[], now: number): ReportSpan {
  return groups.includes('hour') ? usageHours(days, now) : usageDays(days, now);
}

/** Whole days, by default the 30 up to today. */
function usageDays(days: AskedDays, now: number): ReportSpan {
  const { from, to } = daysOf(days, now, DEFAULT_REPORT_DAYS, MOST_REPORT_DAYS, 'A report');
  return { from, to, times: { from, to: to + 1 } };
}

/** Whole days if `from` or `to` is given, else the last 24 hours. */
function usageHours(days: AskedDays, now: number): ReportSpan {
  if (days.from === undefined && days.to === undefined) {
    const toHour = Math.floor(now / HOUR_MS) + 1;
    const fromHour = toHour - HOURS;
    return {
      from: Math.floor(fromHour / HOURS),
      to: Math.floor((toHour - 1) / HOURS),
      times: { from: fromHour, to: toHour },
    };
  }
  const { from, to } = daysOf(days, now, MOST_HOURLY_DAYS, MOST_HOURLY_DAYS, 'A report by hour');
  return { from, to, times: { from: from * HOURS, to: (to + 1) * HOURS } };
}

/** `from` and `to` of a report, both included. Throws `invalid_field` for a reversed range, or more than `most` days. */
function daysOf(asked: AskedDays, now: number, usual: number, most: number, report: string): DayRange {
  const to = asked.to ?? Math.floor(now / DAY_MS);
  const from = asked.from ?? Math.max(0, to - usual + 1);
  if (from > to) throw invalidField('from', 'from must not be later than to (default: today, UTC).');
  if (to - from >= most) throw invalidField('from', `${report} can cover at most ${most} days.`);
  return { from, to };
}
