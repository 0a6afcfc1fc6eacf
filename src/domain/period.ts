import { DateTime } from 'luxon';

export const SPENDING_PERIODS = ['daily', 'weekly', 'monthly'] as const;
export type SpendingPeriod = (typeof SPENDING_PERIODS)[number];

const DAY_MS = 86_400_000;
const LUXON_UNIT = { daily: 'day', weekly: 'week', monthly: 'month' } as const;

/** Start day (days since 1970-01-01 UTC) of the periods that hold the present moment. */
export interface PeriodStarts {
  readonly day: number;
  /** The Monday. */
  readonly week: number;
  /** The first of the month. */
  readonly month: number;
}

/**
 * The starts change at midnight UTC only, and admission and settlement both ask: worked out by luxon each time they
 * were 8 % of the gateway's CPU (µs a call), so the answer of the last day asked for is kept.
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

/** Periods that hold a day, given in days since 1970-01-01 UTC. */
export function periodsOfDay(day: number): PeriodStarts {
  return periodStarts(day * DAY_MS);
}

/** The start, in days since 1970-01-01 UTC, of the period that a key's limit is for. */
export function periodStart(starts: PeriodStarts, period: SpendingPeriod): number {
  return starts[LUXON_UNIT[period]];
}

/** The first day of the month that holds a day, or of the month `months` later; all in days since 1970-01-01 UTC. */
export function monthStart(day: number, months = 0): number {
  const date = new Date(day * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / DAY_MS;
}

/** When the period that holds `nowMs` ends and the next begins, as a timestamp. */
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

/** Luxon would take an offset of +99:99, and without any offset the machine's own zone. */
const ENDS_IN_OFFSET = /T.+(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/i;
/** More than any ISO 8601 text with nanoseconds and an offset. */
const LONGEST_TIMESTAMP = 64;

/**
 * Milliseconds since the epoch of an ISO 8601 date-time with `Z` or an offset; undefined if it is anything else,
 * has no offset, or lies outside the years 0000–9999 UTC. Digits below a millisecond are cut off.
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
