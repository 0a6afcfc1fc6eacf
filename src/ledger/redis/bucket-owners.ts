import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisClient } from './connect.ts';
import { ALL_BUCKETS, journalRedisKey, triedRedisKey } from './redis-keys.ts';

const SINGLE = 'redis';

const TRY_WRITE = "redis.call('set', KEYS[1], '') return redis.call('del', KEYS[1])";

/** Commands on one node, which refuses Redis keys of other nodes. Redis keys are unprefixed (redis-keys.ts). */
export interface NodeCommands {
  /** Resolves if the node has the bucket; rejects if it doesn't or does not answer. */
  claims(bucket: number): Promise<unknown>;
  /** Runs a script that writes, as an admission does, and leaves nothing. Rejects with the reason if that fails. */
  tryWrite(bucket: number): Promise<unknown>;
  hmget(name: string, ...fields: string[]): Promise<(string | null)[]>;
  set(name: string, value: string): Promise<unknown>;
  hset(name: string, field: string, value: number): Promise<unknown>;
  /** WAIT: the number of replicas that have this connection's writes. */
  wait(replicas: number, withinMs: number): Promise<number>;
}

/** The node of each bucket, as the client sees it. A single Redis is one node. */
export class BucketOwners {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #slots: readonly number[];

  constructor(client: RedisClient) {
    this.#client = client;
    this.#prefix = client.options.keyPrefix ?? '';
    this.#slots = ALL_BUCKETS.map((bucket) =>
      new Command('get', [this.#prefix + journalRedisKey(bucket)]).getSlot(),
    );
  }

  /** The bucket's node as `host:port`, if known. */
  ownerOf(bucket: number): string | undefined {
    if (!(this.#client instanceof Cluster)) return SINGLE;
    return this.#client.slots[this.#slots[bucket] as number]?.[0];
  }

  /** The name of a connection's node, as in `ownerOf`. */
  nameOf(node: Redis): string {
    return this.#client instanceof Cluster ? addressOf(node) : SINGLE;
  }

  /** The buckets in a slot of a cluster: none, or nearly always one. */
  bucketsIn(slot: number): number[] {
    return ALL_BUCKETS.filter((bucket) => this.#slots[bucket] === slot);
  }

  /** The client's connection to a node, if there is one. */
  node(owner: string): Redis | undefined {
    if (!(this.#client instanceof Cluster)) return this.#client;
    return this.#client.nodes().find((node) => addressOf(node) === owner);
  }

  commandsOn(owner: string): NodeCommands | undefined {
    const node = this.node(owner);
    // A cluster's node connections don't add the prefix.
    const prefix = this.#client instanceof Cluster ? this.#prefix : '';
    return (
      node && {
        claims: (bucket) => node.exists(prefix + journalRedisKey(bucket)),
        tryWrite: async (bucket) => {
          // Others would queue the script until they are connected.
          if (node.status !== 'ready' && node.status !== 'wait')
            throw new Error(`connection: ${node.status}`);
          await node.eval(TRY_WRITE, 1, prefix + triedRedisKey(bucket));
        },
        hmget: (name, ...fields) => node.hmget(prefix + name, ...fields),
        set: (name, value) => node.set(prefix + name, value),
        hset: (name, field, value) => node.hset(prefix + name, field, value),
        wait: (replicas, withinMs) => node.wait(replicas, withinMs),
      }
    );
  }

  /** Refreshes the slot map and resolves when done or failed. */
  async refreshed(): Promise<void> {
    const client = this.#client;
    if (client instanceof Cluster)
      await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()));
  }

  /** Refreshes the slot map in the background. */
  refresh(): void {
    if (this.#client instanceof Cluster) this.#client.refreshSlotsCache();
  }
}

/** Address of a node as `host:port`. */
export function addressOf({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}
