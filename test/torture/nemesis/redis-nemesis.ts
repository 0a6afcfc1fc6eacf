import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf } from '../../../src/ledger/redis/redis-keys.ts';
import { pick } from '../driver/calls.ts';
import { AFTERMATH_MS, type History } from '../driver/history.ts';
import type { Loss, Trouble } from '../model/model.ts';
import type { Shard } from '../world/shard.ts';
import { empty, setBack } from './losses.ts';

export type RedisFault =
  | 'redis killed'
  | 'redis frozen'
  | 'redis slow'
  | 'redis replies lost'
  | 'redis cut'
  | 'scripts flushed'
  | 'redis emptied'
  | 'redis set back';

export interface Target {
  /** Slot of the gateway whose connections are affected; the others keep theirs. */
  readonly slot: number;
  readonly shard: Shard;
  readonly forMs: number;
}

/** Injects one fault. Resolves with false if the state of the world doesn't allow it. */
export type Injection = (history: History, target: Target) => Promise<false | undefined>;

/** Injects faults of Redis, each into one shard; a single server is one shard. */
export const REDIS_FAULTS: Record<RedisFault, Injection> = {
  async 'redis killed'(history, { shard, forMs }) {
    return whileAway(history, shard, async () => {
      const { process } = shard.master;
      await process.kill();
      await sleep(forMs);
      await process.start();
      await shard.whole();
    });
  },
  async 'redis frozen'(history, { shard, forMs }) {
    return whileAway(history, shard, async () => {
      const { process } = shard.master;
      process.freeze();
      await sleep(forMs);
      process.thaw();
      await shard.whole();
    });
  },
  async 'redis slow'(history, { slot, shard, forMs }) {
    history.trouble(slot, forMs + AFTERMATH_MS, shard);
    shard.delay(SLOW_MS, slot);
    history.inBackground(sleep(forMs).then(() => shard.delay(0, slot)));
    return undefined;
  },
  async 'redis replies lost'(history, { slot, shard }) {
    history.trouble(slot, AFTERMATH_MS, shard);
    shard.loseReplies(slot);
    return undefined;
  },
  async 'redis cut'(history, { slot, shard }) {
    history.trouble(slot, AFTERMATH_MS, shard);
    shard.cut(slot);
    return undefined;
  },
  async 'scripts flushed'(history, { shard }) {
    if (!history.isRedisUp) return false;
    history.trouble(undefined, AFTERMATH_MS, shard);
    await shard.master.raw.script('FLUSH', 'SYNC');
    return undefined;
  },
  async 'redis emptied'(history, { shard }) {
    if (!history.isRedisUp) return false;
    history.trouble(undefined, AFTERMATH_MS, shard);
    noteLoss(history, await empty(shard));
    return undefined;
  },
  async 'redis set back'(history, { shard, forMs }) {
    return whileAway(history, shard, async (trouble) => {
      noteLoss(history, { ...(await setBack(shard, sleep(Math.min(forMs, UNSYNCED_MS)))), trouble });
    });
  },
};

/** Time span of writes that Redis may lose with `appendfsync everysec` when its machine dies. */
const UNSYNCED_MS = 1_000;

/** Delay of a slow Redis in each direction, below the 1 s that a call waits. */
const SLOW_MS = 120;

/**
 * Runs `work` in the background and records trouble for the accounts of these shards until it is done. Meanwhile no
 * other node gets a fault, because two masters that are away at once leave the third without a majority.
 */
export function whileAway(
  history: History,
  shards: Shard | readonly Shard[],
  work: (trouble: Trouble) => Promise<void>,
): false | undefined {
  if (!history.isRedisUp) return false;
  history.redisIs('away');
  const trouble = history.trouble(undefined, Infinity, shards);
  history.inBackground(
    work(trouble).finally(() => {
      history.redisIs('up');
      trouble.to = Date.now() + AFTERMATH_MS;
    }),
  );
  return undefined;
}

/** Shard of the account at an index. */
export function shardOf({ model, world }: History, place: number): Shard {
  const bucket = bucketOf(pick(model.accounts, place).id);
  const shard = world.redis.shards.find(({ buckets }) => buckets.has(bucket));
  if (!shard) throw new Error(`no shard has bucket ${bucket}`);
  return shard;
}

export function noteLoss({ model, summary }: History, loss: Loss): void {
  model.losses.push(loss);
  const ages = [...loss.entries.values()].map(({ createdAt }) => loss.at - createdAt);
  summary.lost(Math.max(0, ...ages));
}
