import { monthStart } from '../domain/period.ts';

/** A range of days (since 1970-01-01) of a report, and the table that has their sums. */
export interface DateRange {
  readonly sums: 'months' | 'days';
  readonly from: number;
  /** The day after the last day. */
  readonly to: number;
  /** −1: these sums are subtracted, because the months contain them and the report does not. */
  readonly times: 1 | -1;
}

/**
 * Splits the days from `fromDay` up to, but without, `toDay` into whole months and few single days. Either end is moved to
 * the nearest first of a month; the days between are added if the report contains them, and subtracted if it does
 * not. That is 15 days at each end at most, and for a report until today often none: later days have no sums yet.
 */
export function rollupRanges(fromDay: number, toDay: number): DateRange[] {
  const from = nearestMonth(fromDay);
  const to = nearestMonth(toDay);
  if (toDay - fromDay <= Math.abs(fromDay - from) + Math.abs(toDay - to)) {
    return [{ sums: 'days', from: fromDay, to: toDay, times: 1 }];
  }
  return [
    { sums: 'months', from, to, times: 1 },
    fromDay < from ? days(fromDay, from, 1) : days(from, fromDay, -1),
    to < toDay ? days(to, toDay, 1) : days(toDay, to, -1),
  ];
}

function days(from: number, to: number, times: 1 | -1): DateRange {
  return { sums: 'days', from, to, times };
}

function nearestMonth(day: number): number {
  const start = monthStart(day);
  const next = monthStart(day, 1);
  return day - start <= next - day ? start : next;
}
