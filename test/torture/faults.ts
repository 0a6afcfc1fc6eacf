import { setTimeout as sleep } from 'node:timers/promises';
import { AFTERMATH_MS, BOOK_AFTERMATH_MS, type History } from './history.ts';
import { empty, setBack } from './losses.ts';
import type { Loss } from './model.ts';
import type { Trap } from './traps.ts';

/** A fault that is done to the world at once, and heals by itself after `forMs` where it lasts. */
export type FaultPlan =
  | {
      readonly kind:
        | 'redis killed'
        | 'redis frozen'
        | 'redis slow'
        | 'redis replies lost'
        | 'redis cut'
        | 'scripts flushed'
        | 'redis emptied'
        | 'redis set back'
        | 'book stopped'
        | 'book slow'
        | 'book replies lost'
        | 'book cut'
        | 'gateway killed';
      readonly slot: number;
      readonly forMs: number;
    }
  | { readonly kind: 'trap'; readonly trap: Trap };

/** Does it, unless the world is not in a state for it. What heals it goes on in the background. */
export async function strike(history: History, plan: FaultPlan): Promise<void> {
  if (plan.kind === 'trap') return history.world.traps.set(plan.trap);
  const { world, tally } = history;
  const slot = plan.slot % world.slots.length;
  const done = await STRIKES[plan.kind](history, slot, plan.forMs);
  if (done !== false) tally.fault(plan.kind);
}

type Strike = (history: History, slot: number, forMs: number) => Promise<false | undefined>;

const STRIKES: Record<Exclude<FaultPlan['kind'], 'trap'>, Strike> = {
  async 'redis killed'(history, _slot, forMs) {
    const { world } = history;
    if (!history.isRedisUp) return false;
    history.redisIs('away');
    const trouble = history.trouble(undefined, AFTERMATH_MS);
    await world.redis.kill();
    history.inBackground(
      sleep(forMs)
        .then(() => world.redis.start())
        .then(() => {
          history.redisIs('up');
          trouble.to = Date.now() + AFTERMATH_MS;
        }),
    );
    return undefined;
  },
  async 'redis frozen'(history, _slot, forMs) {
    const { world } = history;
    if (!history.isRedisUp) return false;
    history.redisIs('away');
    history.trouble(undefined, forMs + AFTERMATH_MS);
    world.redis.freeze();
    history.inBackground(
      sleep(forMs).then(() => {
        world.redis.thaw();
        history.redisIs('up');
      }),
    );
    return undefined;
  },
  async 'redis slow'(history, slot, forMs) {
    const wire = history.world.redisWires[slot];
    history.trouble(slot, forMs + AFTERMATH_MS);
    wire?.delay(SLOW_MS);
    history.inBackground(sleep(forMs).then(() => wire?.delay(0)));
    return undefined;
  },
  async 'redis replies lost'(history, slot) {
    history.trouble(slot, AFTERMATH_MS);
    history.world.redisWires[slot]?.loseReplies();
    return undefined;
  },
  async 'redis cut'(history, slot) {
    history.trouble(slot, AFTERMATH_MS);
    history.world.redisWires[slot]?.cut();
    return undefined;
  },
  async 'scripts flushed'(history) {
    if (!history.isRedisUp) return false;
    history.trouble(undefined, AFTERMATH_MS);
    await history.raw.script('FLUSH', 'SYNC');
    return undefined;
  },
  async 'redis emptied'(history) {
    if (!history.isRedisUp) return false;
    history.trouble(undefined, AFTERMATH_MS);
    noteLoss(history, await empty(history.raw));
    return undefined;
  },
  async 'redis set back'(history, _slot, forMs) {
    const { world, raw } = history;
    if (!history.isRedisUp) return false;
    history.redisIs('away');
    const trouble = history.trouble(undefined, forMs + AFTERMATH_MS);
    history.inBackground(
      setBack(world.redis, raw, sleep(Math.min(forMs, UNSYNCED_MS))).then((loss) => {
        noteLoss(history, loss);
        history.redisIs('up');
        trouble.to = Date.now() + AFTERMATH_MS;
      }),
    );
    return undefined;
  },
  async 'book stopped'(history, _slot, forMs) {
    const { book } = history.world;
    if (!book || !history.isBookUp) return false;
    history.bookIs(false);
    const trouble = history.trouble(undefined, BOOK_AFTERMATH_MS, true);
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
  async 'book slow'(history, slot, forMs) {
    const wire = history.world.bookWires[slot];
    if (!wire) return false;
    history.trouble(slot, forMs + BOOK_AFTERMATH_MS, true);
    wire.delay(SLOW_BOOK_MS);
    history.inBackground(sleep(forMs).then(() => wire.delay(0)));
    return undefined;
  },
  async 'book replies lost'(history, slot) {
    if (!history.world.book) return false;
    history.trouble(slot, BOOK_AFTERMATH_MS, true);
    history.world.bookWires[slot]?.loseReplies();
    return undefined;
  },
  async 'book cut'(history, slot) {
    if (!history.world.book) return false;
    history.trouble(slot, AFTERMATH_MS, true);
    history.world.bookWires[slot]?.cut();
    return undefined;
  },
  async 'gateway killed'(history, slot, forMs) {
    return history.world.slots[slot]?.kill(forMs) ? undefined : false;
  },
};

/** What Redis may lose with `appendfsync everysec` when its machine dies. */
const UNSYNCED_MS = 1_000;

/** Within what a call waits for Redis (1 s), there and back. */
const SLOW_MS = 120;

/** A rebuild, of some twenty statements, is done within the 5 s that others wait for it. */
const SLOW_BOOK_MS = 40;

export function noteLoss({ model, tally }: History, loss: Loss): void {
  model.losses.push(loss);
  const ages = [...loss.entries.values()].map(({ createdAt }) => loss.at - createdAt);
  tally.lost(Math.max(0, ...ages));
}
