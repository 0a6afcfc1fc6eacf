import type { Book } from '../book/book.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import type { Log } from '../log/log.ts';
import type { RedisClient } from './redis/connect.ts';
import { accountRedisKey, hashRedisKey, keyRedisKey } from './redis/redis-keys.ts';

/** Makes records that the book has committed those that every gateway judges by; rejects where Redis does not answer. */
export class Publisher {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;

  constructor(client: RedisClient, book: Book, log: Log) {
    this.#client = client;
    this.#book = book;
    this.#log = log;
  }

  /** `hash` where the key was created just now. */
  async publishKey(key: KeyRecord, hash?: string): Promise<void> {
    await this.#client.publishKey(
      accountRedisKey(key.accountId),
      keyRedisKey(key.accountId, key.id),
      key.version,
      JSON.stringify(key),
      hash ? 1 : 0,
    );
    if (hash) await this.#client.set(hashRedisKey(hash), `${key.accountId}:${key.id}`);
    this.#note({ keys: [{ id: key.id, version: key.version }] });
  }

  async publishAccount(account: AccountRecord): Promise<void> {
    await this.#client.publishAccount(
      accountRedisKey(account.id),
      account.version,
      account.isActive ? 1 : 0,
      account.alertThreshold,
    );
    this.#note({ accounts: [{ id: account.id, version: account.version }] });
  }

  /** Only spares the sweep a repeat, so nobody waits for it. */
  #note(what: Parameters<Book['published']>[0]): void {
    this.#book.published(what).catch((error: unknown) => {
      this.#log.debug({ err: error, ...what }, 'publication not noted; the sweep will repeat it');
    });
  }
}
