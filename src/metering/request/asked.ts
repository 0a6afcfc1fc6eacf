import type { Micro } from '../../domain/credits.ts';
import type { Unit } from '../../domain/price-units.ts';
import type { Bounds, CallCost } from './token-cost.ts';

/** Something in a request that its provider charges for beyond plain tokens (specification section 10). */
export interface Charge {
  /** The field of the request that asks for it. */
  readonly param: string;
  /** What it is, in words that follow "for". */
  readonly what: string;
  /** The unit that it is charged by, where there is one. */
  readonly unit?: Unit;
  /** The service tier that it is, by the name that its multiplier has. */
  readonly serviceTier?: string;
}

/** What one call asks for. Read from its body once. */
export interface Asked {
  readonly charges: readonly Charge[];
  /** Service tiers that the request names, by the names that multipliers have. */
  readonly serviceTiers: readonly string[];
  /**
   * Hold and estimate of the call. `bounds` has what is known later than the body, such as the tokens behind the stored
   * answers that it names.
   */
  cost(bounds: Bounds): CallCost;
}

export const NONE: readonly never[] = Object.freeze([]);

/** The `Asked` of a call that costs exactly its hold, is not counted in tokens, and asks for nothing beyond. */
export function fixedCost(hold: Micro): Asked {
  return { charges: NONE, serviceTiers: NONE, cost: () => ({ hold, estimate: hold, tokens: 0 }) };
}
