import type { Book, Grant } from '../../book/book.ts';
import { type Micro, micro } from '../../domain/credits.ts';
import { periodStarts } from '../../domain/period.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { LedgerUnavailable } from '../ledger.ts';
import type { LiveAccess } from '../recovery/live-access.ts';
import { REBUILDS } from '../recovery/rebuild.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountRedisKey, bucketOf } from '../redis/redis-keys.ts';
import { applyGrant } from './apply-grant.ts';

/**
 * Applies grants to the live balance, each once however often it is asked for: an idempotency marker tells of one whose entry is on
 * its way to the book, and the book of one that has arrived. A rebuild in between shows in the account's epoch.
 */
export class Grants {
  readonly #client: RedisClient;
  readonly #live: LiveAccess;
  readonly #book: Book;
  readonly #drain: JournalDrain;
  readonly #clock: RedisClock;

  constructor(parts: {
    client: RedisClient;
    live: LiveAccess;
    book: Book;
    drain: JournalDrain;
    clock: RedisClock;
  }) {
    this.#client = parts.client;
    this.#live = parts.live;
    this.#book = parts.book;
    this.#drain = parts.drain;
    this.#clock = parts.clock;
  }

  /** The balance after it. Rejects with BalanceBeyondBound or LedgerUnavailable. */
  async apply(grant: Omit<Grant, 'balanceAfter'>): Promise<Micro> {
    const { accountId, id } = grant;
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const [epoch, now] = await this.#live.ask(accountId, () =>
        this.#client.hmget(accountRedisKey(accountId), 'ep', 'bal'),
      );
      if (epoch) {
        if (await this.#isInBook(id)) return micro(Number(now));
        const starts = periodStarts(this.#clock.now(bucketOf(accountId)));
        const balance = await this.#live.ask(accountId, () => applyGrant(this.#client, grant, epoch, starts));
        if (balance !== undefined) {
          this.#drain.touch(bucketOf(accountId));
          return balance;
        }
      }
      await this.#live.rebuild(accountId);
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  async #isInBook(id: string): Promise<boolean> {
    try {
      return (await this.#book.entriesAmong([id])).has(id);
    } catch (cause) {
      throw new LedgerUnavailable('the book did not answer', { cause });
    }
  }
}
