import type { Redis } from 'ioredis';
import type { RedisProcess } from '../helper/redis-process.ts';
import type { Whose, Wire } from './wire.ts';

/** A server, the way to it that gateways and replicas take, and one past that. */
export interface RedisNode {
  readonly process: RedisProcess;
  readonly wire: Wire;
  /** On names of src/ledger/redis/redis-keys.ts. */
  readonly raw: Redis;
}

/** What answers for some of the buckets: a node, and in a cluster the replica that may take its place. */
export class Shard {
  /** Those whose names lie here now. */
  readonly buckets: Set<number>;
  readonly #whole: () => Promise<void>;
  #master: RedisNode;
  #replica: RedisNode | undefined;

  constructor(parts: {
    master: RedisNode;
    replica?: RedisNode | undefined;
    buckets: Iterable<number>;
    /** Resolves when all nodes are up and agree. */
    whole: () => Promise<void>;
  }) {
    this.#master = parts.master;
    this.#replica = parts.replica;
    this.buckets = new Set(parts.buckets);
    this.#whole = parts.whole;
  }

  get master(): RedisNode {
    return this.#master;
  }

  /** Undefined: no cluster. */
  get replica(): RedisNode | undefined {
    return this.#replica;
  }

  /** The replica has taken over. */
  changedPlaces(): void {
    if (!this.#replica) throw new Error('this shard has no replica');
    [this.#master, this.#replica] = [this.#replica, this.#master];
  }

  /** On every way there: a gateway may ask a replica, too. */
  loseReplies(of: Whose): void {
    for (const { wire } of this.#nodes) wire.loseReplies(of);
  }

  cut(of: Whose): void {
    for (const { wire } of this.#nodes) wire.cut(of);
  }

  delay(ms: number, of: Whose): void {
    for (const { wire } of this.#nodes) wire.delay(ms, of);
  }

  async whole(): Promise<void> {
    await this.#whole();
  }

  get #nodes(): RedisNode[] {
    return this.#replica ? [this.#master, this.#replica] : [this.#master];
  }
}
