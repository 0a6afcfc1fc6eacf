import type { EventEmitter } from 'node:events';
import type { Book } from '../../book/book.ts';
import type { DivergedAccount, PostResult } from '../../book/post.ts';
import { BookUnavailable } from '../../book/store.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import type { Log } from '../../log/log.ts';
import type { RedisClient } from '../redis/connect.ts';
import { journalRedisKey, knownRedisKey } from '../redis/redis-keys.ts';
import { readJournalEntry } from './entry-text.ts';

/** Maximum entries per bucket and pass. */
const BATCH = 500;

/** Stream id, for XRANGE, from which a pass reads each bucket's journal. */
export type StreamPositions = ReadonlyMap<number, string>;
export const OLDEST = '-';

export interface JournalEvents {
  /** The account's live state may differ from the book; `epoch` is over. */
  accountDiverged: [accountId: number, epoch: number];
  alertsQueued: [];
}

type BucketFailed = (bucket: number, error: unknown) => void;

interface JournalledEntry {
  readonly bucket: number;
  readonly streamId: string;
  readonly entry: JournalEntry;
}

interface JournalPassParts {
  readonly client: RedisClient;
  readonly book: Book;
  readonly log: Log;
  readonly events: EventEmitter<JournalEvents>;
}

export class JournalPass {
  readonly #parts: JournalPassParts;
  readonly #poster: PostApart;
  readonly #refusedEntries: RefusedEntries;

  constructor(parts: JournalPassParts) {
    this.#parts = parts;
    this.#poster = new PostApart(parts.book);
    this.#refusedEntries = new RefusedEntries(parts.log);
  }

  /** Number of entries that the book refuses. */
  get refused(): number {
    return this.#refusedEntries.count;
  }

  /** Resets the refused entries of a bucket whose journal is empty. */
  emptied(bucket: number): void {
    this.#refusedEntries.reset(bucket);
  }

  /**
   * Posts the entries of each bucket from its position on. Resolves with the buckets that have more, and their
   * positions. Refused entries stay in the journal and block none behind them. Rejects if the book takes no entries;
   * calls `failed` for a bucket whose node does not answer.
   */
  async run(positions: StreamPositions, failed: BucketFailed): Promise<StreamPositions> {
    const { entries, more } = await this.#read(positions, failed);
    if (entries.length === 0) return more;
    const posting = await this.#poster.post(entries.map(({ entry }) => entry));
    if (posting.alerts > 0) this.#parts.events.emit('alertsQueued');
    const done = new Map<number, JournalledEntry[]>();
    for (const [index, journalled] of entries.entries()) {
      const { bucket, streamId, entry } = journalled;
      const result = posting.results[index];
      if (result instanceof Error || result === 'refused') {
        const err =
          result instanceof Error ? result : new Error('no account for it, or no room in its balance');
        this.#refusedEntries.add(bucket, streamId, { accountId: entry.accountId, entryId: entry.id, err });
      } else {
        const booked = done.get(bucket);
        if (booked) booked.push(journalled);
        else done.set(bucket, [journalled]);
      }
    }
    await Promise.all(
      [...done].map(([bucket, booked]) =>
        this.#delete(bucket, booked).catch((error: unknown) => failed(bucket, error)),
      ),
    );
    for (const { accountId, epoch } of posting.diverged) {
      this.#parts.log.warn({ accountId, epoch }, 'redis and the book differ about an account; rebuilding it');
      this.#parts.events.emit('accountDiverged', accountId, epoch);
    }
    return more;
  }

  /** Deletes booked entries. First notes the newest, which detects a restored book (live-state-check.ts). */
  async #delete(bucket: number, booked: readonly JournalledEntry[]): Promise<void> {
    const newest = booked.at(-1)?.entry.id ?? '';
    await Promise.all([
      this.#parts.client.hset(knownRedisKey(bucket), 'entry', newest),
      this.#parts.client.xdel(journalRedisKey(bucket), ...booked.map(({ streamId }) => streamId)),
    ]);
  }

  async #read(
    positions: StreamPositions,
    failed: BucketFailed,
  ): Promise<{ entries: JournalledEntry[]; more: Map<number, string> }> {
    const more = new Map<number, string>();
    const buckets = [...positions.keys()];
    const replies = await Promise.allSettled(
      [...positions].map(([bucket, from]) =>
        this.#parts.client.xrange(journalRedisKey(bucket), from, '+', 'COUNT', BATCH),
      ),
    );
    const entries = replies.flatMap((reply, index) => {
      const bucket = buckets[index] as number;
      if (reply.status === 'rejected') {
        failed(bucket, reply.reason);
        return [];
      }
      const last = reply.value.at(-1)?.[0];
      const hasMore = last !== undefined && reply.value.length === BATCH;
      if (hasMore) more.set(bucket, after(last));
      if (positions.get(bucket) === OLDEST) this.#refusedEntries.reset(bucket);
      return reply.value.flatMap(([streamId, fields]) => {
        const entry = readJournalEntry(fields[1]);
        if (entry) return [{ bucket, streamId, entry }];
        this.#refusedEntries.add(bucket, streamId, { err: new Error('no gateway wrote it') });
        return [];
      });
    });
    return { entries, more };
  }
}

function after(streamId: string): string {
  return `(${streamId}`;
}

/** Retry delay for the entries of a refused account: each attempt is a failing transaction. */
const RETRY_MS = 2_000;

interface PostedApart {
  /** In the order of the entries. An error: the book refused the entry, or an earlier one of its account. */
  readonly results: readonly (PostResult | Error)[];
  readonly diverged: readonly DivergedAccount[];
  readonly alerts: number;
}

/**
 * Posts entries of many accounts in one transaction. If the book refuses it, posts each account's entries one by one up
 * to the first refused one. That entry blocks the later entries of its own account, whose balances follow from it, but
 * no other account.
 */
export class PostApart {
  readonly #book: Pick<Book, 'post'>;
  /** Error and time of the next attempt, by account. */
  readonly #refused = new Map<number, { readonly error: Error; readonly until: number }>();

  constructor(book: Pick<Book, 'post'>) {
    this.#book = book;
  }

  /** Posts entries in journal order. Rejects if the book is down or refuses the entries of every account. */
  async post(entries: readonly JournalEntry[]): Promise<PostedApart> {
    const together = entries.filter(({ accountId }) => !this.#refused.has(accountId));
    const results = new Map<JournalEntry, PostResult | Error>();
    const diverged: DivergedAccount[] = [];
    let alerts = 0;
    const post = async (some: readonly JournalEntry[]) => {
      const posting = await this.#book.post(some);
      for (const [index, entry] of some.entries()) results.set(entry, posting.results[index] as PostResult);
      diverged.push(...posting.diverged);
      alerts += posting.alerts;
    };
    let failure: Error | undefined;
    await post(together).catch((error: unknown) => {
      failure = refusal(error);
    });
    const apart = failure ? entries : entries.filter(({ accountId }) => this.#refused.has(accountId));
    const accounts = Map.groupBy(apart, ({ accountId }) => accountId);
    for (const [accountId, own] of accounts) await this.#postEach(accountId, own, post, results);
    const areAllRefused = [...results.values()].every((result) => result instanceof Error);
    if (failure && accounts.size > 1 && areAllRefused) throw failure;
    return { results: entries.map((entry) => results.get(entry) as PostResult | Error), diverged, alerts };
  }

  async #postEach(
    accountId: number,
    entries: readonly JournalEntry[],
    post: (some: readonly JournalEntry[]) => Promise<void>,
    results: Map<JournalEntry, PostResult | Error>,
  ): Promise<void> {
    let known = this.#refused.get(accountId);
    if (known && known.until <= Date.now()) known = undefined;
    for (const entry of entries) {
      if (!known) {
        await post([entry]).catch((error: unknown) => {
          known = { error: refusal(error), until: Date.now() + RETRY_MS };
        });
      }
      if (known) results.set(entry, known.error);
    }
    if (known) this.#refused.set(accountId, known);
    else this.#refused.delete(accountId);
  }
}

/** Returns the error with which the book refused entries. Rethrows BookUnavailable, which is no refusal. */
function refusal(error: unknown): Error {
  if (error instanceof BookUnavailable) throw error;
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * Entries that stay in their journal because the book refuses them: not written by a gateway, no room in the balance,
 * or a constraint violation. Logs each once, and counts it while it is found again.
 */
class RefusedEntries {
  readonly #log: Log;
  readonly #found = new Map<number, Set<string>>();
  readonly #before = new Map<number, ReadonlySet<string>>();

  constructor(log: Log) {
    this.#log = log;
  }

  get count(): number {
    return [...this.#found.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Restarts the count of a bucket whose journal is read from its start, where refused entries are found again. */
  reset(bucket: number): void {
    this.#before.set(bucket, this.#found.get(bucket) ?? new Set());
    this.#found.delete(bucket);
  }

  add(bucket: number, streamId: string, about: object): void {
    const found = this.#found.get(bucket);
    if (found) found.add(streamId);
    else this.#found.set(bucket, new Set([streamId]));
    if (this.#before.get(bucket)?.has(streamId)) return;
    this.#log.error(
      { bucket, streamId, ...about },
      'failed to post a journal entry; it is kept for repair, and the others go on',
    );
  }
}
