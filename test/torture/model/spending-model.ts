/** Periods of a spending limit, as the API names them (specification section 2). */
export const SPENDING_PERIODS = ['5h', 'daily', 'weekly', 'monthly', 'total'] as const;
export type SpendingPeriod = (typeof SPENDING_PERIODS)[number];

/** A spending limit of a key or an account, in whole credits. */
export interface SpendingLimit {
  readonly period: SpendingPeriod;
  readonly credits: number;
}

/** The highest limit of each period that an owner ever had, in micro-credits; null if it ever had none. */
export type SpendingModel = Record<SpendingPeriod, number | null>;

const MICRO = 1_000_000;

/** The limits of an owner that has had these since its creation. */
export function spendingFrom(limits: readonly SpendingLimit[]): SpendingModel {
  return { ...NO_SPENDING_LIMITS, ...highestOf(limits) };
}

const NO_SPENDING_LIMITS: SpendingModel = {
  '5h': null,
  daily: null,
  weekly: null,
  monthly: null,
  total: null,
};

function highestOf(limits: readonly SpendingLimit[]): Partial<SpendingModel> {
  return Object.fromEntries(limits.map(({ period, credits }) => [period, credits * MICRO]));
}

/** Records that these limits may be in force from now on, whatever the answer to the change. */
export function changedTo(model: SpendingModel, limits: readonly SpendingLimit[]): void {
  const next = spendingFrom(limits);
  for (const period of SPENDING_PERIODS) {
    const [before, after] = [model[period], next[period]];
    model[period] = before === null || after === null ? null : Math.max(before, after);
  }
}
