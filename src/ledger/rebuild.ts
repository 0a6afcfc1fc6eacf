import type { Book } from '../book/book.ts';
import { periodStarts } from '../domain/period.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './connect-redis.ts';
import { accountName, bucketOf, holdsName, keyName } from './names.ts';

/** Rebuilds in a row that one operation waits for; more means that the state is lost as fast as it is restored. */
export const REBUILDS = 3;

/** Keys that one script call restores; bounds how long Redis is busy with it. */
const KEYS_AT_ONCE = 200;

/**
 * Rebuilds the live state of one account from the book (contract section 5: Redis lost or emptied). Callers of the same
 * account share one rebuild.
 *
 * Exact against everything that goes on meanwhile: the book gives each rebuild a new epoch; entries that were
 * journalled before it and reach the book after it carry the old epoch, are refused there, and are applied again in the
 * new one (journal-drain.ts).
 */
export class Rebuilder {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;
  readonly #drain: (bucket: number) => Promise<void>;
  readonly #touch: (bucket: number) => void;
  readonly #underWay = new Map<number, Promise<void>>();

  constructor(options: {
    client: RedisClient;
    book: Book;
    log: Log;
    /** Brings the bucket's journal into the book, so that little has to be applied again. */
    drain: (bucket: number) => Promise<void>;
    /** Has the journal looked at again: entries that waited for the rebuild can be applied now. */
    touch: (bucket: number) => void;
  }) {
    this.#client = options.client;
    this.#book = options.book;
    this.#log = options.log;
    this.#drain = options.drain;
    this.#touch = options.touch;
  }

  /** Rejects with BookUnavailable or the Redis error; then nothing is opened for traffic. */
  rebuild(accountId: number): Promise<void> {
    const underWay = this.#underWay.get(accountId);
    if (underWay) return underWay;
    const run = this.#rebuild(accountId).finally(() => this.#underWay.delete(accountId));
    this.#underWay.set(accountId, run);
    return run;
  }

  async #rebuild(accountId: number): Promise<void> {
    const bucket = bucketOf(accountId);
    await this.#drain(bucket);
    const starts = periodStarts(Date.now());
    const snapshot = await this.#book.snapshot(accountId, starts);
    if (!snapshot) throw new Error(`account ${accountId} is not in the book`);
    const { account, epoch, keys } = snapshot;
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      const chunk = keys.slice(at, at + KEYS_AT_ONCE);
      const reply = await this.#client.restoreKeys(
        2 + chunk.length,
        accountName(accountId),
        holdsName(bucket),
        ...chunk.map(({ key }) => keyName(accountId, key.id)),
        epoch,
        starts.day,
        starts.week,
        starts.month,
        ...chunk.flatMap(({ key, daySpent, weekSpent, monthSpent }) => [
          key.id,
          key.version,
          JSON.stringify(key),
          daySpent,
          weekSpent,
          monthSpent,
        ]),
      );
      if (reply === 'OLD') return;
    }
    await this.#client.restoreAccount(
      accountName(accountId),
      holdsName(bucket),
      accountId,
      epoch,
      account.version,
      account.isActive ? 1 : 0,
      account.alertThreshold,
      snapshot.balance,
      snapshot.seq,
    );
    this.#touch(bucket);
    this.#log.info({ accountId, epoch, keys: keys.length }, 'live state rebuilt from the book');
  }
}
