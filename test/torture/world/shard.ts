import type { Redis } from 'ioredis';
import type { RedisProcess } from '../../helper/start/redis-process.ts';
import type { Whose, Wire } from './wire.ts';

/** A server, the wire by which gateways and replicas reach it, and a connection that bypasses the wire. */
export interface RedisNode {
  readonly process: RedisProcess;
  readonly wire: Wire;
  /** The driver's connection, which prefixes Redis keys as src/ledger/redis/redis-keys.ts does. */
  readonly raw: Redis;
}

/** The servers of some of the buckets: a node, and in a cluster the replica that may take over. */
export class Shard {
  /** Buckets whose Redis keys are in this shard now. */
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

  /** The replica; undefined without a cluster. */
  get replica(): RedisNode | undefined {
    return this.#replica;
  }

  /** Records that the replica has taken over. */
  changedPlaces(): void {
    if (!this.#replica) throw new Error('this shard has no replica');
    [this.#master, this.#replica] = [this.#replica, this.#master];
  }

  /** Loses replies on the wires to master and replica, because a gateway may ask a replica too. */
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
