import { monthStart } from '../domain/period.ts';

/** Days since 1970-01-01 of a report, and where to read their sums. */
export interface Part {
  readonly sums: 'months' | 'days';
  readonly from: number;
  /** The first day that is not part of it. */
  readonly to: number;
  /** −1: its sums are taken off, because the months hold them and the span does not. */
  readonly times: 1 | -1;
}

/**
 * A span of days, of which the last does not count, as whole months and few single days. Either end is moved to the
 * nearest first of a month; the days between are added where they are in the span, else taken off. That is 15 days at
 * each end at most, and for a report until today often none: the days after today have no sums yet.
 */
export function partsOf(fromDay: number, toDay: number): Part[] {
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

function days(from: number, to: number, times: 1 | -1): Part {
  return { sums: 'days', from, to, times };
}

function nearestMonth(day: number): number {
  const start = monthStart(day);
  const next = monthStart(day, 1);
  return day - start <= next - day ? start : next;
}
