import type { Terms } from '../../domain/bill.ts';
import type { Usage } from '../../domain/units.ts';

/** What a relay knows of an answer that ended, complete or cut off: enough to settle the call. */
export interface Reading {
  /** Reported usage. Undefined: `estimate` is charged. */
  readonly usage: Usage | undefined;
  /** Reported billing terms, such as the service tier. */
  readonly terms?: Terms | undefined;
  /** `usage` has tokens whose price is not known to be the model's. */
  readonly isEstimated?: boolean | undefined;
  /** The usage estimated from what was sent and received. */
  estimate(): Usage;
  /** True if the answer itself says that the call failed. */
  readonly failed?: boolean;
  /** True if nothing is charged. */
  readonly free?: boolean;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[];
}

/** Reads the answer of one call and passes it on. */
export interface Relay {
  /**
   * Reads the answer as if it ended now. Undefined before its first byte, and for provider errors.
   */
  reading(): Reading | undefined;
}
