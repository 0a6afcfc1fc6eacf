import type { Redis } from 'ioredis';
import type { BucketOwners } from './bucket-owners.ts';
import { nodesOf, type RedisClient } from './connect.ts';

/**
 * The clocks of the nodes of Redis as this process sees them. Deadlines of holds and of admissions are set and compared by
 * them: gateways whose own clocks differ must not release each other's holds early.
 *
 * Each is a lower bound: the time in a node's reply counts as that of the reply's arrival, so it is late by the way of the
 * reply, and never early; of two readings that agree the better one stays. It goes on by a monotonic clock, which no change
 * of this machine's time moves.
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

  /** Milliseconds since the epoch by the node of the bucket; by this machine until that node has been asked. */
  now(bucket = 0): number {
    return this.known(bucket) ?? Date.now();
  }

  /** Milliseconds since the epoch by the node of the bucket; undefined: that node has not been asked yet. */
  known(bucket: number): number | undefined {
    const offsetMs = this.#offsetsMs.get(this.#owners.ownerOf(bucket) ?? '');
    return offsetMs === undefined ? undefined : Math.floor(performance.now() + offsetMs);
  }

  /** Asks the node of the bucket for the time, or every node, and waits for one. Rejects if none answers. */
  async adjust(bucket?: number): Promise<void> {
    const owner = bucket === undefined ? undefined : this.#owners.ownerOf(bucket);
    const nodes = nodesOf(this.#client).filter(
      (node) => node.status === 'ready' && (owner === undefined || this.#owners.nameOf(node) === owner),
    );
    if (nodes.length === 0 && owner !== undefined) {
      // To a replica that has just taken over, the connection of the calls may be the only one yet.
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
    // A reply that was long on its way says little: a bound from before that it does not contradict is the better one.
    if (knownMs === undefined || knownMs < leastMs || knownMs > mostMs) this.#offsetsMs.set(name, leastMs);
  }
}
