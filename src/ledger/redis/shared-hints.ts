import type { RedisClient } from './connect.ts';

/** Time after which hints that nobody renews are gone. */
const KEPT_MS = 3_600_000;

/**
 * Hints that gateways leave for each other in Redis: texts by name, in kinds. Nothing depends on them; without Redis
 * they are missing. Their Redis keys lie in one slot of a cluster.
 */
export class SharedHints {
  readonly #client: RedisClient;

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /** Leaves a hint in place of the one of its name. Rejects if Redis does not answer. */
  async leave(kind: string, name: string, text: string): Promise<void> {
    const key = redisKey(kind);
    await this.#client.hset(key, name, text);
    await this.#client.pexpire(key, KEPT_MS);
  }

  async forget(kind: string, name: string): Promise<void> {
    await this.#client.hdel(redisKey(kind), name);
  }

  /** The hint of this name; undefined if there is none. Rejects if Redis does not answer. */
  async one(kind: string, name: string): Promise<string | undefined> {
    return (await this.#client.hget(redisKey(kind), name)) ?? undefined;
  }

  /** All hints of a kind by their names. Rejects if Redis does not answer. */
  async all(kind: string): Promise<Readonly<Record<string, string>>> {
    return await this.#client.hgetall(redisKey(kind));
  }

  /** Takes something that one gateway may have at a time; false: another has it. Rejects if Redis does not answer. */
  async claim(name: string, forMs: number): Promise<boolean> {
    return (await this.#client.set(redisKey(`claim:${name}`), '1', 'PX', forMs, 'NX')) === 'OK';
  }

  /** Lets others have what was claimed before its time is over. */
  async release(name: string): Promise<void> {
    await this.#client.del(redisKey(`claim:${name}`));
  }
}

function redisKey(kind: string): string {
  return `tg:{hints}:${kind}`;
}
