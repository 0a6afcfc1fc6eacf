import type { Micro } from '../../domain/credits.ts';
import type { Unit } from '../../domain/units.ts';
import type { Said } from '../metered-body.ts';
import type { Bounds } from './bounds.ts';
import type { FieldToSet } from './fields-to-set.ts';
import type { CallCost } from './token-cost.ts';

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
  /** The setting by which an operator lets it through, where it is neither a price nor a tier. */
  readonly setting?: string;
}

/** What one call asks for. Read from its body once. */
export interface Asked {
  readonly charges: readonly Charge[];
  /** Service tiers that the request names, by the names that multipliers have. */
  readonly serviceTiers: readonly string[];
  /** Bounds that the request leaves open and the gateway sends. */
  readonly sets?: readonly FieldToSet[];
  /** What the report of the call is read by; undefined: nothing of the request. */
  readonly said?: Said;
  /** Inline sounds, to be measured; undefined: one that is not inline. */
  readonly sounds?: readonly (string | undefined)[];
  /**
   * Hold and estimate of the call. `bounds` has what is known later than the body, such as the tokens behind the stored
   * answers that it names.
   */
  cost(bounds: Bounds): CallCost;
}

export const NONE: readonly never[] = Object.freeze([]);

/** The `Asked` of a call that costs exactly its hold, and is not counted in tokens. */
export function fixedCost(hold: Micro, charges: readonly Charge[] = NONE): Asked {
  return {
    charges,
    serviceTiers: NONE,
    cost: () => ({ hold, estimate: hold, tokens: 0, mediaTokens: 0 }),
  };
}
