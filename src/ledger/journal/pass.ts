import type { EventEmitter } from 'node:events';
import type { Book } from '../../book/book.ts';
import type { DivergedAccount, PostResult } from '../../book/post.ts';
import { BookUnavailable } from '../../book/store.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import type { Log } from '../../log/log.ts';
import type { RedisClient } from '../redis/connect.ts';
import { journalRedisKey, knownRedisKey } from '../redis/redis-keys.ts';
import { readJournalEntry } from './entry-text.ts';

/** Most entries that a pass takes from one bucket. */
const BATCH = 500;

/** Position in the journal of each bucket from which a pass reads: a stream id as XRANGE takes it. */
export type StreamPositions = ReadonlyMap<number, string>;
export const OLDEST = '-';

/** Findings of a drain that others must act on. */
export interface JournalEvents {
  /** The account's live state may not be what the book has; `epoch` is over. */
  accountDiverged: [accountId: number, epoch: number];
  /** Alerts were queued in the book. */
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
  readonly #aside: SetAside;

  constructor(parts: JournalPassParts) {
    this.#parts = parts;
    this.#poster = new PostApart(parts.book);
    this.#aside = new SetAside(parts.log);
  }

  /** Number of entries that the book does not take. */
  get refused(): number {
    return this.#aside.count;
  }

  /** Forgets what was refused in a bucket: its journal was found empty. */
  emptied(bucket: number): void {
    this.#aside.beginAnew(bucket);
  }

  /**
   * Takes the entries of each bucket from its position on. Resolves with the buckets that have more, and their positions.
   * Entries that the book refuses stay, and keep back none behind them. Rejects if the book takes no entries; calls
   * `failed` for a bucket for which Redis does not answer.
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
        this.#aside.add(bucket, streamId, { accountId: entry.accountId, entryId: entry.id, err });
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
      this.#parts.log.warn({ accountId, epoch }, 'redis and book differ about an account; it is rebuilt');
      this.#parts.events.emit('accountDiverged', accountId, epoch);
    }
    return more;
  }

  /** Deletes entries that the book has. The committed entries are noted first: a restored book is known by that (live-state-check.ts). */
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
      if (positions.get(bucket) === OLDEST) this.#aside.beginAnew(bucket);
      return reply.value.flatMap(([streamId, fields]) => {
        const entry = readJournalEntry(fields[1]);
        if (entry) return [{ bucket, streamId, entry }];
        this.#aside.add(bucket, streamId, { err: new Error('no gateway wrote it') });
        return [];
      });
    });
    return { entries, more };
  }
}

function after(streamId: string): string {
  return `(${streamId}`;
}

/** Pause before entries of a refused account are tried again: each try is a transaction that fails. */
const AGAIN_MS = 2_000;

interface PostedApart {
  /** In the order of the entries offered. An error: the book refused the entry, or an earlier one of its account. */
  readonly results: readonly (PostResult | Error)[];
  readonly diverged: readonly DivergedAccount[];
  readonly alerts: number;
}

/**
 * Posts entries of many accounts in one transaction. If the book refuses that, the entries of each account are posted
 * apart, one by one up to the first that is refused. That one keeps back the later entries of its own account, whose
 * balances follow from it, and of no other account.
 */
export class PostApart {
  readonly #book: Pick<Book, 'post'>;
  /** Reason of the refusal and time of the next try, by account. */
  readonly #refused = new Map<number, { readonly error: Error; readonly until: number }>();

  constructor(book: Pick<Book, 'post'>) {
    this.#book = book;
  }

  /** Posts entries, in journal order. Rejects if the book is away, or refuses the entries of every account. */
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
    for (const [accountId, own] of accounts) await this.#postOwn(accountId, own, post, results);
    const isNoneTaken = [...results.values()].every((result) => result instanceof Error);
    if (failure && accounts.size > 1 && isNoneTaken) throw failure;
    return { results: entries.map((entry) => results.get(entry) as PostResult | Error), diverged, alerts };
  }

  async #postOwn(
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
          known = { error: refusal(error), until: Date.now() + AGAIN_MS };
        });
      }
      if (known) results.set(entry, known.error);
    }
    if (known) this.#refused.set(accountId, known);
    else this.#refused.delete(accountId);
  }
}

/** The error with which the book refused entries. Throws BookUnavailable on: then it refused nothing. */
function refusal(error: unknown): Error {
  if (error instanceof BookUnavailable) throw error;
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * Entries that stay in their journal because the book does not take them: no gateway wrote them, the balance has no room for
 * them, or a constraint of their account's rows refuses them. Each is logged once, and counted as long as it is found again.
 */
class SetAside {
  readonly #log: Log;
  readonly #found = new Map<number, Set<string>>();
  readonly #before = new Map<number, ReadonlySet<string>>();

  constructor(log: Log) {
    this.#log = log;
  }

  get count(): number {
    return [...this.#found.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Begins a new count for a bucket, whose journal is read from its start: entries still refused are found again. */
  beginAnew(bucket: number): void {
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
      'a journal entry cannot be booked; it is kept for repair, and others go on',
    );
  }
}
