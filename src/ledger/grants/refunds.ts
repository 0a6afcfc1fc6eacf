import type { Book, Charge } from '../../book/book.ts';
import { micro } from '../../domain/credits.ts';
import { type EntryDraft, refundId } from '../../domain/ledger-entry.ts';
import { periodsOfDay } from '../../domain/period.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { draftText } from '../journal/entry-text.ts';
import type { Stale } from '../ledger.ts';
import { LedgerUnavailable, MARK_MS } from '../ledger.ts';
import type { ConnectionGate } from '../recovery/connection-gate.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountName, bucketOf, holdsName, journalName, keyName } from '../redis/redis-keys.ts';

/** Rebuilds in a row that one refund waits for. */
const REBUILDS = 5;

/**
 * Gives charges back, each exactly once (specification section 5, video). The refund's id is made from the charge's, so every
 * gateway that learns of the failure asks for the same entry:
 *
 * - while it is on its way to the book, a mark in Redis bars a second one (lua/refund.lua);
 * - once it is there, the book tells;
 * - a rebuild between asking the book and Redis is seen by the account's epoch, and the book is asked again.
 */
export class Refunds {
  readonly #client: RedisClient;
  readonly #gate: ConnectionGate;
  readonly #book: Book;
  readonly #drain: JournalDrain;
  readonly #rebuild: (accountId: number, stale?: Stale) => Promise<void>;

  constructor(parts: {
    client: RedisClient;
    gate: ConnectionGate;
    book: Book;
    drain: JournalDrain;
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
  }) {
    this.#client = parts.client;
    this.#gate = parts.gate;
    this.#book = parts.book;
    this.#drain = parts.drain;
    this.#rebuild = parts.rebuild;
  }

  /**
   * Resolves when the charge has been given back, now or before, or there is nothing to give back. Rejects with
   * LedgerUnavailable or BookUnavailable where that cannot be told: ask again.
   */
  async refund(accountId: number, chargeId: string): Promise<void> {
    if ((await this.#book.charge(accountId, chargeId))?.isRefunded) return;
    let keyId: number | null = null;
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const epoch = await this.#ask(accountId, () => this.#client.hget(accountName(accountId), 'ep'));
      if (epoch !== null) {
        const isOpen = await this.#ask(accountId, () =>
          this.#client.hexists(holdsName(bucketOf(accountId)), chargeId),
        );
        const waiting = await this.#ask(accountId, () => this.#drain.undrained(bucketOf(accountId)));
        // The book has what was charged but for that, and every refund of which Redis may have forgotten the mark.
        const charge = await this.#book.charge(accountId, chargeId);
        if (!charge && (isOpen || waiting.has(chargeId)))
          throw new LedgerUnavailable('the charge is not settled yet');
        if (!charge || charge.isRefunded || charge.entry.credits >= 0) return;
        const reply = await this.#ask(accountId, () => this.#apply(charge, epoch));
        if (reply === 'APPLIED') this.#drain.touch(bucketOf(accountId));
        if (reply === 'APPLIED' || reply === 'DONE') return;
        if (reply === 'MOVED') continue;
        if (reply === 'BEYOND')
          throw new LedgerUnavailable('the balance has no room for a refund until some of it is spent');
        keyId = charge.entry.keyId;
      }
      await this.#ask(accountId, () => this.#rebuild(accountId, { keyId }));
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  #apply(charge: Charge, epoch: string) {
    const { accountId, keyId } = charge.entry;
    const draft = draftOf(charge);
    const bucket = bucketOf(accountId);
    const starts = periodsOfDay(charge.day);
    return this.#client.refund(
      accountName(accountId),
      keyName(accountId, keyId ?? 0),
      holdsName(bucket),
      journalName(bucket),
      draft.id,
      epoch,
      Date.now() + MARK_MS,
      draft.credits,
      starts.day,
      starts.week,
      starts.month,
      draftText(draft),
    );
  }

  async #ask<T>(accountId: number, commands: () => Promise<T>): Promise<T> {
    const bucket = bucketOf(accountId);
    if (!this.#gate.isOpen(bucket)) await this.#gate.opened(bucket);
    try {
      return await commands();
    } catch (error) {
      throw new LedgerUnavailable('a refund was not answered', { cause: error });
    }
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
  };
}
