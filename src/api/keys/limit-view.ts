import { creditsNumber, creditsString, micro } from '../../domain/credits.ts';
import { LIMIT_PERIODS } from '../../domain/limit-periods.ts';
import { periodStarts } from '../../domain/period.ts';
import {
  resetsAt,
  SPENDING_OWNERS,
  type SpendingLimit,
  type SpendingOwner,
  spentIn,
  type Windows,
} from '../../domain/spending-limits.ts';
import { credits, exactCredits, orNull, timeOrNull, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const of = words(SPENDING_OWNERS, 'Whose spending the limit bounds.');
const period = words(LIMIT_PERIODS, 'Period of the limit.');
const limitCredits = credits('Most credits that may be spent in the period.');
const resets_at = timeOrNull('End of the current period; null: it has none, or has not begun.');

/** Fields of limits in several answers. */
export const LIMIT_FIELDS = {
  period,
  credits: limitCredits,
  spent: orNull(exactCredits('Spent in the current period.'), 'Null for a reader who may not see it.'),
  held: orNull(exactCredits('Held by calls in flight.'), 'Null for a reader who may not see it.'),
  resets_at,
};

/** A spending limit, with what is left of it (specification section 5). */
export const Limit = Type.Object(
  {
    of,
    period,
    credits: limitCredits,
    spent: orNull(exactCredits('Spent in the current period.'), 'Null for a reader who may not see it.'),
    remaining: orNull(
      exactCredits('The limit minus the spend, at least 0. Holds do not count.'),
      'Null for a reader who may not see it.',
    ),
    resets_at,
  },
  { title: 'Limit', description: 'A spending limit, with what is left of it.' },
);
export type LimitView = Static<typeof Limit>;

export const LIMIT_EXAMPLE: LimitView = {
  of: 'key',
  period: 'monthly',
  credits: 10,
  spent: '0.020084',
  remaining: '9.979916',
  resets_at: '2026-12-01T00:00:00.000Z',
};

/** The spending limit that refuses a call. */
export const RefusingLimit = Type.Object(
  {
    of,
    ...LIMIT_FIELDS,
  },
  { title: 'RefusingLimit' },
);

/** Remaining credits of an owner's limits. `now`: milliseconds since the epoch, by Redis' clock. */
export function limitViews(
  owner: SpendingOwner,
  limits: readonly SpendingLimit[],
  windows: Windows,
  now: number,
): LimitView[] {
  const starts = periodStarts(now);
  return limits.map(({ period, credits }) => {
    const spent = spentIn(windows, period, starts, now);
    return {
      of: owner,
      period,
      credits: creditsNumber(credits),
      spent: creditsString(spent),
      remaining: creditsString(micro(Math.max(0, credits - spent))),
      resets_at: resetsAt(period, windows.hours, now),
    };
  });
}
