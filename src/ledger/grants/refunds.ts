import type { Book, Charge } from '../../book/book.ts';
import { micro } from '../../domain/credits.ts';
import { type EntryDraft, refundId } from '../../domain/ledger-entry.ts';
import { periodsOfDay } from '../../domain/period.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { type PostedOnce, postOnce } from '../journal/post-once.ts';
import { LedgerUnavailable } from '../ledger.ts';
import type { LiveAccess } from '../recovery/live-access.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountRedisKey, bucketOf, holdsRedisKey } from '../redis/redis-keys.ts';

/** Rebuilds in a row that one refund waits for; more means that the state is lost as fast as it is restored. */
const REBUILDS = 5;

/**
 * Gives charges back, each exactly once (specification section 5, video). The refund's id is made from the charge's, so every
 * gateway that learns of the failure asks for one and the same entry:
 *
 * - while the refund is on its way to the book, an idempotency marker in Redis refuses a second one (lua/post-once.lua);
 * - once it is in the book, the book tells;
 * - a rebuild between asking the book and asking Redis shows in the account's epoch, and the book is asked again.
 */
export class Refunds {
  readonly #client: RedisClient;
  readonly #live: LiveAccess;
  readonly #book: Book;
  readonly #drain: JournalDrain;

  constructor(parts: { client: RedisClient; live: LiveAccess; book: Book; drain: JournalDrain }) {
    this.#client = parts.client;
    this.#live = parts.live;
    this.#book = parts.book;
    this.#drain = parts.drain;
  }

  /**
   * Resolves when the charge has been given back, now or before, or there is nothing to give back. Rejects with
   * LedgerUnavailable or BookUnavailable where that cannot be found out: ask again.
   */
  async refund(accountId: number, chargeId: string): Promise<void> {
    if ((await this.#book.charge(accountId, chargeId))?.isRefunded) return;
    let keyId: number | null = null;
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const epoch = await this.#live.ask(accountId, () =>
        this.#client.hget(accountRedisKey(accountId), 'ep'),
      );
      if (epoch !== null) {
        const isOpen = await this.#live.ask(accountId, () =>
          this.#client.hexists(holdsRedisKey(bucketOf(accountId)), chargeId),
        );
        const waiting = await this.#live.ask(accountId, () => this.#drain.undrained(bucketOf(accountId)));
        // The book has every charge but those, and every refund whose idempotency marker Redis may have forgotten.
        const charge = await this.#book.charge(accountId, chargeId);
        if (!charge && (isOpen || waiting.has(chargeId)))
          throw new LedgerUnavailable('the charge is not settled yet');
        if (!charge || charge.isRefunded || charge.entry.credits >= 0) return;
        const reply = await this.#live.ask(accountId, () => this.#apply(charge, epoch));
        if (reply === 'APPLIED') this.#drain.touch(bucketOf(accountId));
        if (reply === 'APPLIED' || reply === 'DONE') return;
        if (reply === 'REBUILT') continue;
        if (reply === 'BEYOND')
          throw new LedgerUnavailable('the balance has no room for a refund until some of it is spent');
        keyId = charge.entry.keyId;
      }
      await this.#live.ask(accountId, () => this.#live.rebuild(accountId, keyId));
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  async #apply(charge: Charge, epoch: string): Promise<PostedOnce['reply']> {
    const { reply } = await postOnce(this.#client, draftOf(charge), {
      starts: periodsOfDay(charge.day),
      epoch,
    });
    return reply;
  }
}

function draftOf({ entry }: Charge): EntryDraft {
  return {
    id: refundId(entry.id),
    type: 'refund',
    accountId: entry.accountId,
    keyId: entry.keyId,
    createdAt: Date.now(),
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    status: null,
    outcome: null,
    usage: {},
    estimated: false,
    credits: micro(-entry.credits),
    ...(entry.upstream !== undefined && { upstream: entry.upstream }),
    // The provider takes nothing for a job that failed: sums give back its cost as they give back its credits.
    ...(entry.cost !== undefined && { cost: micro(-entry.cost) }),
  };
}
