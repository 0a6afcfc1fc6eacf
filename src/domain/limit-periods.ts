/** Periods of a spending limit: UTC calendar, five hours from the first call after the last ones, and ever. */
export const LIMIT_PERIODS = ['5h', 'daily', 'weekly', 'monthly', 'total'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** Adjectives of the periods. */
export const PERIOD_WORDS = {
  '5h': 'five-hour',
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
  total: 'total',
} as const satisfies Record<LimitPeriod, string>;
