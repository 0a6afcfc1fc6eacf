import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf } from '../../../src/ledger/redis/redis-keys.ts';
import { AFTERMATH_MS, type History } from '../driver/history.ts';
import type { Shard } from '../world/shard.ts';
import { empty, failOver, type Going } from './losses.ts';
import { type Injection, noteLoss, whileAway } from './redis-nemesis.ts';

export type ClusterFault =
  | 'replica promoted'
  | 'replica promoted, master frozen'
  | 'slots moved'
  | 'every node emptied'
  | 'scripts flushed everywhere';

/** Injects the faults that only a cluster can have. */
export const CLUSTER_FAULTS: Record<ClusterFault, Injection> = {
  'replica promoted': (history, { shard, forMs }) => promote(history, shard, 'killed', forMs),
  'replica promoted, master frozen': (history, { shard, forMs }) => promote(history, shard, 'frozen', forMs),
  async 'slots moved'(history, { shard, forMs }) {
    const { shards } = history.world.redis;
    const to = shards[(shards.indexOf(shard) + 1) % shards.length] as Shard;
    if (to === shard) return false;
    const buckets = bucketsInUse(history, shard).slice(0, BUCKETS_AT_ONCE);
    return whileAway(history, [shard, to], async () => {
      for (const bucket of buckets) {
        await history.world.redis.move(bucket, to, () => sleep(forMs / BUCKETS_AT_ONCE));
      }
      await shard.whole();
    });
  },
  async 'every node emptied'(history) {
    const { shards } = history.world.redis;
    if (!history.isRedisUp || shards.length === 1) return false;
    history.trouble(undefined, AFTERMATH_MS);
    const losses = await Promise.all(shards.map(empty));
    for (const loss of losses) noteLoss(history, loss);
    return undefined;
  },
  async 'scripts flushed everywhere'(history) {
    const { shards } = history.world.redis;
    if (!history.isRedisUp || shards.length === 1) return false;
    history.trouble(undefined, AFTERMATH_MS);
    await Promise.all(shards.map(({ master }) => master.raw.script('FLUSH', 'SYNC')));
    return undefined;
  },
};

/** Lag of a replica after which gateways have noticed it. */
const LAG_MS = 1_000;
/** Number of buckets to move one after the other; each stays halfway for a while. */
const BUCKETS_AT_ONCE = 3;

async function promote(
  history: History,
  shard: Shard,
  going: Going,
  forMs: number,
): Promise<false | undefined> {
  if (!shard.replica) return false;
  const meanwhile = sleep(Math.min(forMs, LAG_MS));
  return whileAway(history, shard, (trouble) =>
    failOver(shard, { going, meanwhile, awayMs: forMs }, (loss) =>
      noteLoss(history, { ...loss, trouble, isFailover: true, wasFrozen: going === 'frozen' }),
    ),
  );
}

/** Buckets of a shard, those with accounts of the history first. */
function bucketsInUse({ model }: History, { buckets }: Shard): number[] {
  const used = new Set(model.accounts.map(({ id }) => bucketOf(id)));
  return [...buckets].sort((a, b) => Number(used.has(b)) - Number(used.has(a)));
}
