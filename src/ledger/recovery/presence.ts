import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../book/book.ts';
import { RUNNING_MS } from '../../book/gateways.ts';
import type { RedisClient } from '../redis/connect.ts';
import { UnusableRedis } from '../redis/redis-health.ts';
import { instanceRedisKey } from '../redis/redis-keys.ts';

const BEAT_MS = 3_000;
const POLL_MS = 250;

interface PresenceParts {
  readonly client: RedisClient;
  readonly book: Book;
  /** The address of Redis for messages, without credentials. */
  readonly address: string;
}

/**
 * Keeps the gateways of a book on one Redis: on two, each would admit calls by a balance of its own. Redis holds a
 * random id; each gateway notes it in the book while it runs.
 */
export class Presence {
  readonly #parts: PresenceParts;
  readonly #id = randomUUID();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /**
   * Notes this gateway. Rejects with UnusableRedis if a gateway runs on another Redis. The notes of killed gateways
   * delay a start on another Redis by up to 10 s.
   */
  async enter(): Promise<void> {
    const { book } = this.#parts;
    const seen = new Map<string, number>();
    for (;;) {
      const redis = await this.#redisId();
      const others = await book.gatewaysElsewhere(redis ?? '', RUNNING_MS);
      if (others.length === 0) break;
      const running = others.find(({ id, seenAt }) => (seen.get(id) ?? seenAt) !== seenAt);
      // A Redis that came back empty gets its id again from the gateways that run on it, before they note it.
      if (running && redis === (await this.#redisId())) throw this.#isElsewhere(running.address);
      for (const { id, seenAt } of others) if (!seen.has(id)) seen.set(id, seenAt);
      await sleep(POLL_MS);
    }
    const redis = await this.#note();
    const [other] = await book.gatewaysElsewhere(redis, RUNNING_MS);
    if (!other) return;
    // Both started at the same moment; this one yields.
    await book.forgetGateway(this.#id);
    throw this.#isElsewhere(other.address);
  }

  start(): void {
    // Without Redis or the book there is nothing to note; both report their own failures.
    this.#timer = setInterval(() => this.#note().catch(() => {}), BEAT_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Removes the note, so that the next gateway need not wait until it is old. Never rejects. */
  async leave(): Promise<void> {
    this.stop();
    await this.#parts.book.forgetGateway(this.#id).catch(() => {});
  }

  async #note(): Promise<string> {
    const { client, book, address } = this.#parts;
    await client.set(instanceRedisKey(), randomUUID(), 'NX');
    const redis = (await this.#redisId()) ?? '';
    await book.noteGateway({ id: this.#id, redis, address });
    return redis;
  }

  async #redisId(): Promise<string | undefined> {
    return (await this.#parts.client.get(instanceRedisKey())) ?? undefined;
  }

  #isElsewhere(address: string): UnusableRedis {
    return new UnusableRedis(
      `Another gateway on this database uses another Redis (${address}; here ${this.#parts.address}), so both would spend the same credits. Give all gateways the same REDIS_URL, or stop that gateway.`,
    );
  }
}
