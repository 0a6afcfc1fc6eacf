import type { Book } from '../book/book.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import type { Log } from '../log/log.ts';
import { Failures } from '../log/loop.ts';
import { limitsText } from './limits-text.ts';
import type { RedisClient } from './redis/connect.ts';
import {
  accountRedisKey,
  bucketOf,
  hashRedisKey,
  holdsRedisKey,
  keyRedisKey,
  knownRedisKey,
} from './redis/redis-keys.ts';

/** Unpublished keys, and as many accounts, that one round reads from the book. */
const UNPUBLISHED_AT_ONCE = 500;

interface Records {
  readonly keys: readonly KeyRecord[];
  readonly accounts: readonly AccountRecord[];
}

type Concerns = (accountId: number) => boolean;

const EVERY_ACCOUNT: Concerns = () => true;

/**
 * Publishes records that the book has committed: makes them the ones that every gateway authorizes calls with. Methods
 * reject with the Redis error; publishing again does no harm.
 */
export class Publisher {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;

  constructor(client: RedisClient, book: Book, log: Log) {
    this.#client = client;
    this.#book = book;
    this.#log = log;
  }

  /** `hash`: the SHA-256 (hex) of a key value that was created just now. */
  async publishKey(key: KeyRecord, hash?: string): Promise<void> {
    await this.#client.publishKey(
      accountRedisKey(key.accountId),
      keyRedisKey(key.accountId, key.id),
      holdsRedisKey(bucketOf(key.accountId)),
      key.version,
      JSON.stringify(key),
      hash ? 1 : 0,
      key.id,
      limitsText(key),
    );
    if (hash) {
      await Promise.all([
        this.#client.set(hashRedisKey(hash), `${key.accountId}:${key.id}`),
        this.#client.hset(knownRedisKey(bucketOf(key.accountId)), 'key', key.id),
      ]);
    }
    this.#note({ keys: [{ id: key.id, version: key.version }] });
  }

  /**
   * Publishes the record of a key that has a new value. If the Redis key of that value is not written, as it may lie on
   * another node of a cluster, the book is asked for the value.
   */
  async publishRotatedKey(key: KeyRecord): Promise<void> {
    const known = this.#client.set(hashRedisKey(key.hash), `${key.accountId}:${key.id}`);
    await Promise.all([
      this.publishKey(key),
      known.catch((error: unknown) => {
        this.#log.debug({ err: error, keyId: key.id }, 'value not noted; its first use asks the book');
      }),
    ]);
  }

  async publishAccount(account: AccountRecord): Promise<void> {
    await this.#client.publishAccount(
      accountRedisKey(account.id),
      holdsRedisKey(bucketOf(account.id)),
      account.version,
      account.isActive ? 1 : 0,
      account.alertThreshold,
      account.overdraft,
      account.id,
      limitsText(account),
    );
    this.#note({ accounts: [{ id: account.id, version: account.version }] });
  }

  /** Publishes records that were never confirmed as published, of the accounts that `concerns` accepts. */
  async publishUnpublished(concerns = EVERY_ACCOUNT): Promise<void> {
    await this.#publishAll(await this.#book.unpublished(UNPUBLISHED_AT_ONCE), concerns);
  }

  /**
   * Publishes records changed at or after `since` (ms since the epoch) again, for a Redis that may have lost them. Redis
   * leaves a version that it has as it is.
   */
  async publishChangedSince(since: number, concerns = EVERY_ACCOUNT): Promise<void> {
    await this.#publishAll(await this.#book.changedSince(since), concerns);
  }

  async #publishAll({ keys, accounts }: Records, concerns: Concerns): Promise<void> {
    const failures = new Failures();
    await Promise.all([
      ...accounts
        .filter(({ id }) => concerns(id))
        .map((account) => failures.collect(this.publishAccount(account))),
      ...keys
        .filter(({ accountId }) => concerns(accountId))
        .map((key) => failures.collect(this.publishKey(key))),
    ]);
    failures.throwAny();
  }

  /** Nobody waits for the note: it only spares the sweep a repeat. */
  #note(what: Parameters<Book['published']>[0]): void {
    this.#book.published(what, Date.now()).catch((error: unknown) => {
      this.#log.debug({ err: error, ...what }, 'publication not noted; the sweep will repeat it');
    });
  }
}
