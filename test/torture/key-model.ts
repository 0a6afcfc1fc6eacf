import { limitsFrom, NO_LIMITS } from './limits-model.ts';
import type { AccountModel, KeyModel } from './model.ts';
import { valuesFrom } from './values-model.ts';

/** A key as it was just created; `highestLimit` (of its spending) in micro-credits. */
export function keyModel(
  id: number,
  value: string,
  account: AccountModel,
  more: Partial<Pick<KeyModel, 'highestLimit' | 'limits'>> = {},
): KeyModel {
  return {
    id,
    ...valuesFrom(value),
    account,
    highestLimit: null,
    limits: limitsFrom(NO_LIMITS),
    isActive: true,
    isRestricted: false,
    mayOpen: false,
    ...more,
  };
}
