import { setTimeout as sleep } from 'node:timers/promises';
import { makeCall } from '../driver/calls.ts';
import { AFTERMATH_MS, type History } from '../driver/history.ts';
import { empty } from './losses.ts';
import { noteLoss } from './redis-nemesis.ts';

/** Maximum time that an entry waits in the journal in normal operation (specification section 5, Journal). */
const LAG_MS = 250;
/** Number of times that the messages of one drain pass through this process, there and back. */
const PASSES = 20;
/** Maximum stall of this process at which to check the bound; on a slower machine it would mean nothing. */
const STALLED_MS = 25;
const PAUSE_MS = 20;

/**
 * Empties Redis during calls, without another fault. By the clock of Redis, no lost entry may have waited in the
 * journal for longer than specification section 5 allows.
 */
export async function loseWithoutFault(
  history: History,
  { afterMs }: { readonly afterMs: number },
): Promise<void> {
  const { world, model, summary, stallMeter } = history;
  // By then, the start and its first calls are over.
  const until = Date.now() + afterMs;
  for (let call = 0; Date.now() < until; call++) {
    const plan = {
      slot: call % world.slots.length,
      manner: 'plain',
      model: 'flat',
      leaving: undefined,
    } as const;
    history.inBackground(makeCall(history, { key: 0, ...plan }));
    await sleep(PAUSE_MS);
  }
  history.trouble(undefined, AFTERMATH_MS);
  const losses = await Promise.all(world.redis.shards.map(empty));
  for (const loss of losses) noteLoss(history, loss);
  const lagMs = Math.max(...losses.map((loss) => loss.lagMs ?? 0));
  const lateMs = stallMeter.worstMs;
  if (losses.every(({ entries }) => entries.size === 0) || lateMs > STALLED_MS)
    return summary.lostWithoutFault(undefined);
  summary.lostWithoutFault(lagMs);
  const bound = LAG_MS + PASSES * lateMs;
  if (lagMs <= bound) return;
  model.violations.push(
    `Redis lost an entry that had waited for ${Math.round(lagMs)} ms without a fault; ${Math.round(bound)} ms is the most`,
  );
}
