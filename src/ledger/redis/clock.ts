import type { Redis } from 'ioredis';
import type { BucketOwners } from './bucket-owners.ts';
import { nodesOf, type RedisClient } from './connect.ts';

/**
 * Estimates the clocks of the Redis nodes. Deadlines of holds and admissions are set and compared by them, so that
 * gateways with differing clocks do not release each other's holds early.
 *
 * Each estimate is a lower bound: the time in a reply counts as of its arrival, so it lags by the reply's travel time
 * and is never ahead. Of two consistent readings, the tighter one stays. Between readings a monotonic clock advances
 * it, which changes of this machine's time do not affect.
 */
export class RedisClock {
  readonly #client: RedisClient;
  readonly #owners: BucketOwners;
  /** Added to performance.now(), by node. */
  readonly #offsetsMs = new Map<string, number>();

  constructor(client: RedisClient, owners: BucketOwners) {
    this.#client = client;
    this.#owners = owners;
  }

  /** Milliseconds since the epoch by the bucket's node, or by this machine until it is known. */
  now(bucket = 0): number {
    return this.known(bucket) ?? Date.now();
  }

  /** Milliseconds since the epoch by the bucket's node; undefined until it is known. */
  known(bucket: number): number | undefined {
    const offsetMs = this.#offsetsMs.get(this.#owners.ownerOf(bucket) ?? '');
    return offsetMs === undefined ? undefined : Math.floor(performance.now() + offsetMs);
  }

  /**
   * Reads the clock of the bucket's node; without a bucket, of every node, waiting for the first. Rejects if none
   * answers.
   */
  async adjust(bucket?: number): Promise<void> {
    const owner = bucket === undefined ? undefined : this.#owners.ownerOf(bucket);
    const nodes = nodesOf(this.#client).filter(
      (node) => node.status === 'ready' && (owner === undefined || this.#owners.nameOf(node) === owner),
    );
    if (nodes.length === 0 && owner !== undefined) {
      // A replica that has just taken over may only be connected through the calls' client.
      const node = this.#owners.node(owner);
      if (node?.status === 'ready') nodes.push(node);
    }
    if (nodes.length === 0) throw new Error('no node of redis is connected');
    await Promise.any(nodes.map((node) => this.#read(node)));
  }

  async #read(node: Redis): Promise<void> {
    const askedAt = performance.now();
    const [seconds, microseconds] = await node.time();
    const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    const name = this.#owners.nameOf(node);
    const knownMs = this.#offsetsMs.get(name);
    const [leastMs, mostMs] = [now - performance.now(), now - askedAt];
    // A slow reply is imprecise; keep an earlier bound that it does not contradict.
    if (knownMs === undefined || knownMs < leastMs || knownMs > mostMs) this.#offsetsMs.set(name, leastMs);
  }
}
