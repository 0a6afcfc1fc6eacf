import { setTimeout as sleep } from 'node:timers/promises';
import type { Trap } from './armed-failpoints.ts';
import { CLUSTER_STRIKES, type ClusterFault } from './cluster-nemesis.ts';
import { AFTERMATH_MS, BOOK_AFTERMATH_MS, type History } from './history.ts';
import { REDIS_STRIKES, type RedisFault, type Strike, shardOf } from './redis-nemesis.ts';

type BookFault = 'book stopped' | 'book slow' | 'book replies lost' | 'book cut';

/** A fault that is done to the world at once, and heals by itself after `forMs` where it lasts. */
export type FaultPlan =
  | {
      readonly kind: RedisFault | ClusterFault | BookFault | 'gateway killed';
      readonly slot: number;
      readonly forMs: number;
      /** Its shard is struck, where one is. */
      readonly account: number;
    }
  | { readonly kind: 'trap'; readonly trap: Trap };

/** Does it, unless the world is not in a state for it. What heals it goes on in the background. */
export async function strike(history: History, plan: FaultPlan): Promise<void> {
  if (plan.kind === 'trap') return history.world.traps.set(plan.trap);
  const { world, tally } = history;
  const slot = plan.slot % world.slots.length;
  const shard = shardOf(history, plan.account);
  const done = await STRIKES[plan.kind](history, { slot, shard, forMs: plan.forMs });
  if (done !== false) tally.fault(plan.kind);
}

const STRIKES: Record<Exclude<FaultPlan['kind'], 'trap'>, Strike> = {
  ...REDIS_STRIKES,
  ...CLUSTER_STRIKES,
  async 'book stopped'(history, { forMs }) {
    const { book } = history.world;
    if (!book || !history.isBookUp) return false;
    history.bookIs(false);
    const trouble = history.trouble(undefined, BOOK_AFTERMATH_MS, 'book');
    await book.halt();
    history.inBackground(
      sleep(forMs)
        .then(() => book.resume())
        .then(() => {
          history.bookIs(true);
          trouble.to = Date.now() + AFTERMATH_MS;
        }),
    );
    return undefined;
  },
  async 'book slow'(history, { slot, forMs }) {
    const wire = history.world.bookWires[slot];
    if (!wire) return false;
    history.trouble(slot, forMs + BOOK_AFTERMATH_MS, 'book');
    wire.delay(SLOW_BOOK_MS);
    history.inBackground(sleep(forMs).then(() => wire.delay(0)));
    return undefined;
  },
  async 'book replies lost'(history, { slot }) {
    if (!history.world.book) return false;
    history.trouble(slot, BOOK_AFTERMATH_MS, 'book');
    history.world.bookWires[slot]?.loseReplies();
    return undefined;
  },
  async 'book cut'(history, { slot }) {
    if (!history.world.book) return false;
    history.trouble(slot, AFTERMATH_MS, 'book');
    history.world.bookWires[slot]?.cut();
    return undefined;
  },
  async 'gateway killed'(history, { slot, forMs }) {
    return history.world.slots[slot]?.kill(forMs) ? undefined : false;
  },
};

/** A rebuild, of some twenty statements, is done within the 5 s that others wait for it. */
const SLOW_BOOK_MS = 40;
