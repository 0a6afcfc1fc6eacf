import type { NodeReader, NodeWriter } from '../redis/bucket-owners.ts';
import { knownRedisKey } from '../redis/redis-keys.ts';

/**
 * The time until which a node of Redis is known to have had every write to its buckets, noted in each of them while it serves.
 * A Redis that comes back without its last seconds tells by it when those were, however long it was away.
 */

/** Milliseconds since the epoch, by the clocks of gateways; now, where nothing is noted. Rejects with the Redis error. */
export async function knownUntil(buckets: Iterable<number>, reader: NodeReader): Promise<number> {
  const noted = await Promise.all([...buckets].map((bucket) => reader.hmget(knownRedisKey(bucket), 'until')));
  return Math.min(Date.now(), ...noted.flatMap(([until]) => (until ? Number(until) : [])));
}

/** Notes that the node has had every write to these buckets until now. */
export async function noteKnown(buckets: readonly number[], writer: NodeWriter): Promise<void> {
  const now = Date.now();
  await Promise.all(buckets.map((bucket) => writer.hset(knownRedisKey(bucket), 'until', now)));
}
