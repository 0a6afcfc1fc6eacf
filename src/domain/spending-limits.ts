import { creditsNumber, type Micro, micro } from './credits.ts';
import type { LimitPeriod } from './limit-periods.ts';
import { type PeriodStarts, periodEndsAt, type SpendingPeriod, timestamp } from './period.ts';

/** A spending limit among the names of call limits, in metrics. */
export type SpendingLimitName = `spending_${LimitPeriod}`;

/**
 * Whose spending a limit bounds: a key's, that of all keys of a person's membership, or an account's. Of two limits that
 * refuse a call and end together, a refusal names the later owner's.
 */
export const SPENDING_OWNERS = ['key', 'member', 'account'] as const;
export type SpendingOwner = (typeof SPENDING_OWNERS)[number];

/** A spending limit of a key, or of a member's or an account's keys together (specification section 5). */
export interface SpendingLimit {
  readonly period: LimitPeriod;
  /** Most credits that may be spent in the period, in micro-credits. */
  readonly credits: Micro;
}

/** A limit in the API, with a number of credits. */
export interface WireLimit {
  readonly period: LimitPeriod;
  readonly credits: number;
}

export function wireLimits(limits: readonly SpendingLimit[]): readonly WireLimit[] {
  return limits.map(({ period, credits }) => ({ period, credits: creditsNumber(credits) }));
}

export interface OwnedLimit extends SpendingLimit {
  readonly of: SpendingOwner;
}

export const FIVE_HOURS_MS = 5 * 3_600_000;

/**
 * What an owner has spent, in micro-credits, in the last day, week, month (by their first day, in days since the epoch)
 * and five hours (by their start, in milliseconds since the epoch; 0: none yet) in which it spent or began anything, and
 * ever.
 */
export interface Windows {
  readonly day: number;
  readonly daySpent: Micro;
  readonly week: number;
  readonly weekSpent: Micro;
  readonly month: number;
  readonly monthSpent: Micro;
  readonly hours: number;
  readonly hoursSpent: Micro;
  readonly totalSpent: Micro;
}

/** The last five hours of an owner: their start, and the micro-credits spent in them. */
export type FiveHours = Pick<Windows, 'hours' | 'hoursSpent'>;

/**
 * Adds an entry that counts in the five hours from `start`; one of earlier ones changes nothing. Five hours that overlap
 * are the same ones, from the earlier start: a Redis that lost their beginning began them again.
 */
export function withHours(last: FiveHours, start: number, spent: number): FiveHours {
  if (start <= last.hours - FIVE_HOURS_MS) return last;
  if (start >= last.hours + FIVE_HOURS_MS) return { hours: start, hoursSpent: micro(spent) };
  // Spending limits are lower, so larger sums need not be exact (lua/windows.inc.lua).
  const sum = Math.min(last.hoursSpent + spent, Number.MAX_SAFE_INTEGER);
  return { hours: Math.min(last.hours, start), hoursSpent: micro(sum) };
}

/** Of an owner that has spent nothing. */
export const NO_WINDOWS: Windows = Object.freeze({
  day: 0,
  daySpent: micro(0),
  week: 0,
  weekSpent: micro(0),
  month: 0,
  monthSpent: micro(0),
  hours: 0,
  hoursSpent: micro(0),
  totalSpent: micro(0),
});

/** The spending limits of a key: a pair, and a list; and those of the membership of its person. */
interface KeyLimits {
  readonly spendingLimit: Micro | null;
  readonly spendingPeriod: SpendingPeriod;
  readonly spendingLimits: readonly SpendingLimit[];
  readonly memberSpendingLimits: readonly SpendingLimit[];
}

const NONE: readonly never[] = Object.freeze([]);

/** The limits that bind the calls of a key: its own, its member's, its account's. */
export function ownedLimits(key: KeyLimits, ofAccount: readonly SpendingLimit[]): readonly OwnedLimit[] {
  const ofKey = limitsOfKey(key);
  const ofMember = key.memberSpendingLimits;
  if (ofKey.length + ofMember.length + ofAccount.length === 0) return NONE;
  return [
    ...ofKey.map((limit) => ({ of: 'key', ...limit }) as const),
    ...ofMember.map((limit) => ({ of: 'member', ...limit }) as const),
    ...ofAccount.map((limit) => ({ of: 'account', ...limit }) as const),
  ];
}

/** A key's own limits: the pair `spending_limit` and `spending_period`, and the list. */
export function limitsOfKey({
  spendingLimit,
  spendingPeriod,
  spendingLimits,
}: Omit<KeyLimits, 'memberSpendingLimits'>): readonly SpendingLimit[] {
  if (spendingLimit === null) return spendingLimits;
  return [{ period: spendingPeriod, credits: spendingLimit }, ...spendingLimits];
}

/** Micro-credits spent in the current window of a period. `now`: milliseconds since the epoch, with its `starts`. */
export function spentIn(windows: Windows, period: LimitPeriod, starts: PeriodStarts, now: number): Micro {
  const none = 0 as Micro;
  switch (period) {
    case '5h':
      return areRunning(windows.hours, now) ? windows.hoursSpent : none;
    case 'daily':
      return windows.day >= starts.day ? windows.daySpent : none;
    case 'weekly':
      return windows.week >= starts.week ? windows.weekSpent : none;
    case 'monthly':
      return windows.month >= starts.month ? windows.monthSpent : none;
    case 'total':
      return windows.totalSpent;
  }
}

/** End of the current window of a period; null if it has none. `hours`: start of the owner's five hours. */
export function resetsAt(period: LimitPeriod, hours: number, now: number): string | null {
  if (period === 'total') return null;
  if (period === '5h') return areRunning(hours, now) ? timestamp(hours + FIVE_HOURS_MS) : null;
  return periodEndsAt(now, period);
}

/** Time at which a limit's current window ends, in milliseconds since the epoch; infinite, or 0 if it has none. */
export function endsAt(period: LimitPeriod, hours: number, now: number): number {
  if (period === 'total') return Infinity;
  const end = resetsAt(period, hours, now);
  return end === null ? 0 : Date.parse(end);
}

function areRunning(hours: number, now: number): boolean {
  return now < hours + FIVE_HOURS_MS;
}
