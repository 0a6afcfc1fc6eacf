import { DateTime } from 'luxon';

export const SPENDING_PERIODS = ['daily', 'weekly', 'monthly'] as const;
export type SpendingPeriod = (typeof SPENDING_PERIODS)[number];

const DAY_MS = 86_400_000;
const LUXON_UNIT = { daily: 'day', weekly: 'week', monthly: 'month' } as const;

/** Start days (days since 1970-01-01 UTC) of the current periods. */
export interface PeriodStarts {
  readonly day: number;
  /** The Monday. */
  readonly week: number;
  /** The first of the month. */
  readonly month: number;
}

/**
 * Cache of the last day. The starts change only at midnight UTC, and admission and settlement both need them. Computing
 * them with luxon each time took 8 % of the gateway's CPU.
 */
let latest: PeriodStarts = { day: Number.NaN, week: 0, month: 0 };

/** Periods by the UTC calendar (specification section 2): the day, the week from Monday, the month from day 1. */
export function periodStarts(nowMs: number): PeriodStarts {
  const day = Math.floor(nowMs / DAY_MS);
  if (day !== latest.day) {
    const now = utc(nowMs);
    latest = Object.freeze({
      day,
      week: epochDay(now.startOf('week')),
      month: epochDay(now.startOf('month')),
    });
  }
  return latest;
}

/** Periods that contain a day, given in days since 1970-01-01 UTC. */
export function periodsOfDay(day: number): PeriodStarts {
  return periodStarts(day * DAY_MS);
}

/** Start, in days since 1970-01-01 UTC, of the period of a key's limit. */
export function periodStart(starts: PeriodStarts, period: SpendingPeriod): number {
  return starts[LUXON_UNIT[period]];
}

/** First day of a day's month, or of the month `months` later; all in days since 1970-01-01 UTC. */
export function monthStart(day: number, months = 0): number {
  const date = new Date(day * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / DAY_MS;
}

/** End of the period that contains `nowMs`, as a timestamp. */
export function periodEndsAt(nowMs: number, period: SpendingPeriod): string {
  const unit = LUXON_UNIT[period];
  return timestamp(
    utc(nowMs)
      .startOf(unit)
      .plus({ [unit]: 1 })
      .toMillis(),
  );
}

function utc(ms: number): DateTime {
  return DateTime.fromMillis(ms, { zone: 'utc' });
}

function epochDay(midnight: DateTime): number {
  return midnight.toMillis() / DAY_MS;
}

/**
 * `YYYY-MM-DDTHH:MM:SS.sssZ` of milliseconds since the epoch (specification section 2). Throws RangeError outside the
 * years 0000–9999, which have no such form.
 */
export function timestamp(ms: number): string {
  if (!hasFourDigitYear(ms)) throw new RangeError(`no timestamp for ${ms} ms`);
  return new Date(ms).toISOString();
}

/** Luxon would accept an offset of +99:99, and use the machine's zone without an offset. */
const ENDS_IN_OFFSET = /T.+(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/i;
/** Longer than any ISO 8601 text with nanoseconds and an offset. */
const LONGEST_TIMESTAMP = 64;

/**
 * Milliseconds since the epoch of an ISO 8601 date-time with `Z` or an offset; undefined for other text, without an
 * offset, or outside the years 0000–9999 UTC. Truncates digits below a millisecond.
 */
export function parseTimestamp(text: string): number | undefined {
  if (text.length > LONGEST_TIMESTAMP || !ENDS_IN_OFFSET.test(text)) return undefined;
  const parsed = DateTime.fromISO(text, { setZone: true });
  return parsed.isValid && hasFourDigitYear(parsed.toMillis()) ? parsed.toMillis() : undefined;
}

/** `YYYY-MM-DD` of a day counted from 1970-01-01. Throws RangeError outside the years 0000–9999. */
export function dayString(epochDay: number): string {
  return timestamp(epochDay * DAY_MS).slice(0, 10);
}

/** Days since 1970-01-01 of a calendar day written `YYYY-MM-DD`; undefined if there is no such day. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const midnight = DateTime.fromISO(text, { zone: 'utc' });
  return midnight.isValid ? epochDay(midnight) : undefined;
}

const YEAR_0 = Date.UTC(-1, 12);
const YEAR_10000 = Date.UTC(10_000);

function hasFourDigitYear(ms: number): boolean {
  return ms >= YEAR_0 && ms < YEAR_10000;
}
