import type { Pools } from '../../shares/pools.ts';
import { type HeavyStep, heavyStepOf } from './json/heavy-step.ts';

/**
 * Bytes that a body counts as at least while it is read: JSON of very many parts takes 13 MB for 1.2 MB.
 */
const LEAST_BYTES = 4 * 1024 * 1024;

/** Reading of large bodies of one account: by turns with other accounts, one body at a time. */
export interface LargeReads {
  /** Runs the reading of a body of `size` bytes once there is memory for it. */
  run<T>(size: number, read: () => Promise<T>): Promise<T>;
  readonly heavyStep: HeavyStep;
}

export function largeReadsOf({ reading, steps }: Pools, accountId: number): LargeReads {
  return {
    run: (size, read) => reading.run(accountId, read, Math.max(size, LEAST_BYTES)),
    heavyStep: heavyStepOf(steps, accountId),
  };
}
