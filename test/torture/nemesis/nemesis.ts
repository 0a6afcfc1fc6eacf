import { setTimeout as sleep } from 'node:timers/promises';
import { AFTERMATH_MS, BOOK_AFTERMATH_MS, type History } from '../driver/history.ts';
import type { ArmedFailpoint } from './armed-failpoints.ts';
import { CLUSTER_FAULTS, type ClusterFault } from './cluster-nemesis.ts';
import { type Injection, REDIS_FAULTS, type RedisFault, shardOf } from './redis-nemesis.ts';

type GatewayFault = 'gateway killed' | 'gateway frozen' | 'gateway restarted';
type BookFault = 'book stopped' | 'book slow' | 'book replies lost' | 'book cut';

/** A fault to inject immediately. A lasting one ends after `forMs`. */
export type FaultPlan =
  | {
      readonly kind: RedisFault | ClusterFault | BookFault | GatewayFault;
      readonly slot: number;
      readonly forMs: number;
      /** Account whose shard a fault of Redis affects. */
      readonly account: number;
    }
  | { readonly kind: 'failpoint'; readonly failpoint: ArmedFailpoint };

/** Injects the fault, if the state of the world allows it. It heals in the background. */
export async function injectFault(history: History, plan: FaultPlan): Promise<void> {
  if (plan.kind === 'failpoint') return history.world.failpoints.arm(plan.failpoint);
  const { world, summary } = history;
  const slot = plan.slot % world.slots.length;
  const shard = shardOf(history, plan.account);
  const done = await FAULTS[plan.kind](history, { slot, shard, forMs: plan.forMs });
  if (done !== false) summary.fault(plan.kind);
}

const FAULTS: Record<Exclude<FaultPlan['kind'], 'failpoint'>, Injection> = {
  ...REDIS_FAULTS,
  ...CLUSTER_FAULTS,
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
  async 'gateway frozen'(history, { slot, forMs }) {
    const thawed = history.world.slots[slot]?.freeze(forMs);
    if (!thawed) return false;
    // Trouble for all gateways, because they may wait for accounts that the frozen one is rebuilding.
    history.trouble(undefined, forMs + AFTERMATH_MS);
    history.inBackground(thawed);
    return undefined;
  },
  async 'gateway restarted'(history, { slot }) {
    const restarted = history.world.slots[slot]?.restart();
    if (!restarted) return false;
    const trouble = history.trouble(slot, Infinity);
    history.inBackground(
      restarted.then(() => {
        trouble.to = Date.now() + AFTERMATH_MS;
      }),
    );
    return undefined;
  },
};

/** Delay of a slow book. A rebuild of some twenty statements still ends within the 5 s that others wait for it. */
const SLOW_BOOK_MS = 40;
