import { nodesOf, type RedisClient } from './connect.ts';

/**
 * The clock of Redis as this process sees it. Deadlines of holds are set and compared by it: gateways whose own clocks
 * differ must not release each other's holds early.
 */
export class RedisClock {
  readonly #client: RedisClient;
  #offsetMs = 0;

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /** Milliseconds since the epoch, off by half a round trip at most. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Asks Redis for the time. Rejects where no node answers. */
  async adjust(): Promise<void> {
    const node = nodesOf(this.#client).find(({ status }) => status === 'ready');
    if (!node) throw new Error('no node of redis is connected');
    const [seconds, microseconds] = await node.time();
    this.#offsetMs = Math.round(Number(seconds) * 1_000 + Number(microseconds) / 1_000 - Date.now());
  }
}
