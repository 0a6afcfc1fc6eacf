import { invalidField } from '../../domain/errors.ts';
import { parseDay } from '../../domain/period.ts';
import { type Query, textParam } from '../http/query.ts';
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

/** The span of a report by these groups, at `now` in milliseconds since the epoch. Throws `invalid_field`. */
export function reportSpan(query: Query, groups: readonly string[], now: number): ReportSpan {
  return groups.includes('hour') ? usageHours(query, now) : usageDays(query, now);
}

/** Whole days, by default the 30 up to today. */
function usageDays(query: Query, now: number): ReportSpan {
  const { from, to } = daysOf(query, now, DEFAULT_REPORT_DAYS, MOST_REPORT_DAYS, 'A report');
  return { from, to, times: { from, to: to + 1 } };
}

/** Whole days if `from` or `to` is given, else the last 24 hours. */
function usageHours(query: Query, now: number): ReportSpan {
  if (query.from === undefined && query.to === undefined) {
    const toHour = Math.floor(now / HOUR_MS) + 1;
    const fromHour = toHour - HOURS;
    return {
      from: Math.floor(fromHour / HOURS),
      to: Math.floor((toHour - 1) / HOURS),
      times: { from: fromHour, to: toHour },
    };
  }
  const { from, to } = daysOf(query, now, MOST_HOURLY_DAYS, MOST_HOURLY_DAYS, 'A report by hour');
  return { from, to, times: { from: from * HOURS, to: (to + 1) * HOURS } };
}

/**
 * `from` and `to` of a report, both included. Throws `invalid_field` for an invalid date, a reversed range, or more
 * than `most` days.
 */
function daysOf(query: Query, now: number, usual: number, most: number, report: string): DayRange {
  const to = dayParam(query, 'to') ?? Math.floor(now / DAY_MS);
  const from = dayParam(query, 'from') ?? Math.max(0, to - usual + 1);
  if (from > to) throw invalidField('from', 'from must not be later than to (default: today, UTC).');
  if (to - from >= most) throw invalidField('from', `${report} can cover at most ${most} days.`);
  return { from, to };
}

/** `group_by`: one or two distinct words of these. Throws `invalid_field`. */
export function groupsParam<Word extends string>(
  query: Query,
  words: readonly Word[],
  usual: Word,
): readonly Word[] {
  const text = textParam(query, 'group_by');
  if (text === undefined) return [usual];
  const groups = text.split(',');
  const known = groups.filter((group): group is Word => words.some((word) => word === group));
  if (known.length !== groups.length || groups.length > 2 || new Set(groups).size < groups.length) {
    throw invalidField(
      'group_by',
      `group_by must be one or two different words of: ${words.join(', ')}; two are joined by a comma.`,
    );
  }
  return known;
}

/** `from` and `to` of a ledger query, both included; an omitted end is open. Throws `invalid_field`. */
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
  // No calls exist before 1970. Without this bound, the default 30 days could start before year 0.
  if (day === undefined || day < 0)
    throw invalidField(name, `${name} must be a date in the form YYYY-MM-DD.`);
  return day;
}
