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
  memberRedisKeys,
} from './redis/redis-keys.ts';

/** Maximum unpublished keys, and accounts, per read. */
const UNPUBLISHED_AT_ONCE = 500;

interface Records {
  readonly keys: readonly KeyRecord[];
  readonly accounts: readonly AccountRecord[];
}

type Concerns = (accountId: number) => boolean;

const EVERY_ACCOUNT: Concerns = () => true;

/**
 * Publishes committed records, so that every gateway authorizes with them. Methods reject with the Redis error;
 * publishing is idempotent.
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

  /** `hash`: SHA-256 (hex) of the value of a newly created key. */
  async publishKey(key: KeyRecord, hash?: string): Promise<void> {
    const { accountId, personId } = key;
    const keys = [
      accountRedisKey(accountId),
      keyRedisKey(accountId, key.id),
      holdsRedisKey(bucketOf(accountId)),
      ...memberRedisKeys(accountId, personId),
    ];
    await this.#client.publishKey(
      keys.length,
      ...keys,
      key.version,
      JSON.stringify(key),
      hash ? ((await this.#isOnlyKey(key)) ? 2 : 1) : 0,
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

  /** Whether the key is the only one of a member: its member hash begins with it. */
  async #isOnlyKey({ accountId, personId }: KeyRecord): Promise<boolean> {
    if (personId === null) return false;
    return (await this.#book.keyCounts(accountId, [personId])).get(personId) === 1;
  }

  /**
   * Publishes a rotated key, and removes the Redis key of a value that ended long ago. If writing the
   * Redis key of the new value fails (another cluster node may own it), its first use reads the book.
   */
  async publishRotatedKey(key: KeyRecord, endedHash: string | null): Promise<void> {
    const ended = endedHash === null ? 0 : this.#client.del(hashRedisKey(endedHash));
    const known = Promise.all([
      this.#client.set(hashRedisKey(key.hash), `${key.accountId}:${key.id}`),
      ended,
    ]);
    await Promise.all([
      this.publishKey(key),
      known.catch((error: unknown) => {
        this.#log.debug(
          { err: error, keyId: key.id },
          'failed to publish a key value; its first use reads the book',
        );
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
      JSON.stringify(account.spendingLimits),
    );
    this.#note({ accounts: [{ id: account.id, version: account.version }] });
  }

  /**
   * Publishes records never confirmed as published, for accounts that `concerns` accepts. Continues after failures: the
   * records of a node that is down must not keep back those of others.
   */
  async publishUnpublished(concerns = EVERY_ACCOUNT): Promise<void> {
    const failures = new Failures();
    const after = { key: 0, account: 0 };
    for (let isFull = true; isFull; ) {
      const { keys, accounts } = await this.#book.unpublished(UNPUBLISHED_AT_ONCE, after);
      await failures.collect(this.#publishAll({ keys, accounts }, concerns));
      after.key = keys.at(-1)?.id ?? after.key;
      after.account = accounts.at(-1)?.id ?? after.account;
      isFull = Math.max(keys.length, accounts.length) === UNPUBLISHED_AT_ONCE;
    }
    failures.throwAny();
  }

  /**
   * Republishes records changed since `since` (ms since the epoch), for a Redis that may have lost them. Redis ignores
   * versions that it already has.
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

  /** Not awaited: it only saves the sweep a repeat. */
  #note(what: Parameters<Book['published']>[0]): void {
    this.#book.published(what, Date.now()).catch((error: unknown) => {
      this.#log.debug({ err: error, ...what }, 'failed to record a publication; the sweep will repeat it');
    });
  }
}
