import { MICRO_PER_CREDIT } from './credits.ts';

/** Days whose spend is the pace of an account. */
export const PACE_DAYS = 7;
/** Days that a balance must last for no one to be asked for more. */
export const SOON_DAYS = 3;

/** What tells how fast an account spends; days since 1970-01-01 UTC. */
interface Spending {
  /** Spend of the last PACE_DAYS days, today included, in micro-credits. */
  readonly spentOfPace: bigint;
  /** First day with a call in the last 30; null: none. */
  readonly firstDay: number | null;
}

/**
 * Days that a balance lasts: balance ÷ (spend of the last seven days ÷ 7, or ÷ the days since the first call if fewer).
 * Null: nothing was spent (specification section 8).
 */
export function lastsDays(
  balance: number,
  { spentOfPace, firstDay }: Spending,
  today: number,
): number | null {
  if (spentOfPace <= 0n || firstDay === null) return null;
  const pace = Number(spentOfPace) / Math.min(PACE_DAYS, today - firstDay + 1);
  return Math.round((Math.max(0, balance) / pace) * MICRO_PER_CREDIT) / MICRO_PER_CREDIT;
}
