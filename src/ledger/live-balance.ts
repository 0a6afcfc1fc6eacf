import type { Book } from '../book/book.ts';
import type { RedisAddress } from '../config/redis-url.ts';
import { type Micro, micro } from '../domain/credits.ts';
import { readJournalEntry } from './journal/entry-text.ts';
import { connectRedis, createRedis, type RedisClient } from './redis/connect.ts';
import { accountRedisKey, bucketOf, journalRedisKey, redisKeyPrefix } from './redis/redis-keys.ts';

/** Comparisons before a difference counts, because a running gateway can charge between reading Redis and the book. */
const ATTEMPTS = 20;
const PAUSE_MS = 100;
const CONNECT_WITHIN_MS = 5_000;

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

interface LiveBalance {
  /** Balance in Redis. */
  readonly live: Micro;
  /** The book's balance plus journal entries not yet in the book. */
  readonly expected: Micro;
}

/** Compares live balances with the book, read-only, even while gateways charge. */
export class LiveBalances {
  readonly #client: RedisClient;
  readonly #book: Book;

  private constructor(client: RedisClient, book: Book) {
    this.#client = client;
    this.#book = book;
  }

  static async open(address: RedisAddress, book: Book): Promise<LiveBalances> {
    const client = createRedis(address, {
      name: 'reconcile',
      keyPrefix: redisKeyPrefix(book.id),
      log: SILENT,
    });
    try {
      await connectRedis(client, CONNECT_WITHIN_MS);
    } catch (error) {
      client.disconnect();
      throw error;
    }
    return new LiveBalances(client, book);
  }

  close(): void {
    this.#client.disconnect();
  }

  /** Compares one account. Undefined if it has no live state; its next use rebuilds it. */
  async check(accountId: number): Promise<LiveBalance | undefined> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#compare(accountId);
      if (!found || found.live === found.expected || attempt === ATTEMPTS) return found;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #compare(accountId: number): Promise<LiveBalance | undefined> {
    // One transaction, for a consistent view of balance and journal.
    const replies = await this.#client
      .multi()
      .hmget(accountRedisKey(accountId), 'bal', 'ep')
      .xrange(journalRedisKey(bucketOf(accountId)), '-', '+')
      .exec();
    const [account, journal] = (replies ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    }) as [[string | null, string | null], [string, [string, string]][]];
    const [balance, epoch] = account;
    if (balance === null || epoch === null) return undefined;
    const waiting = journal
      .flatMap(([, [, text]]) => readJournalEntry(text) ?? [])
      .filter((entry) => entry.accountId === accountId);
    const known = await this.#book.entriesAmong(waiting.map(({ id }) => id));
    const [stored] = await this.#book.accounts(accountId - 1, 1);
    const sum = waiting
      .filter(({ id }) => !known.has(id))
      .reduce((total, { credits }) => withEntry(total, credits), stored?.balance ?? 0);
    return { live: micro(Number(balance)), expected: micro(sum) };
  }
}

/** Adds an entry, unless the balance would no longer be exact (as recovery/rebuild.ts does). */
function withEntry(balance: number, credits: number): number {
  const after = balance + credits;
  return Number.isSafeInteger(after) ? after : balance;
}
