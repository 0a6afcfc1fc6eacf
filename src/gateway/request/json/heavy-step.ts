import { setImmediate } from 'node:timers/promises';
import type { FairPool } from '../../../shares/fair-pool.ts';
import type { LoopTurns } from '../../../shares/loop-turns.ts';

/** Runs a step of work that blocks the event loop for some 10 ms, when it is its turn. */
export type HeavyStep = <T>(work: () => T) => Promise<T>;

/**
 * Heavy steps of one account. Of all accounts one step runs at a time, by turns (`pool`), and after each one the event
 * loop is left to other work for as long as the step took.
 */
export function heavyStepOf(pool: FairPool, turns: LoopTurns, accountId: number): HeavyStep {
  return async (work) => {
    const share = await pool.acquire(accountId);
    await setImmediate();
    await turns.next(accountId);
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      setTimeout(() => share.release(), performance.now() - startedAt);
    }
  };
}
