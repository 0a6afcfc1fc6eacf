import type { EventEmitter } from 'node:events';
import type { Book } from '../../book/book.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import type { Log } from '../../log/log.ts';
import type { RedisClient } from '../redis/connect.ts';
import { journalRedisKey, knownRedisKey } from '../redis/redis-keys.ts';
import { readJournalEntry } from './entry-text.ts';
import { PostApart } from './post-apart.ts';
import { SetAside } from './set-aside.ts';

/** Most entries that a pass takes from one bucket. */
const BATCH = 500;

/** Position in the journal of each bucket from which a pass reads: a stream id as XRANGE takes it. */
export type StreamPositions = ReadonlyMap<number, string>;
export const OLDEST = '-';

/** Findings of a drain that others must act on. */
export interface JournalEvents {
  /** The account's live state may not be what the book has; `epoch` is over. */
  accountAstray: [accountId: number, epoch: number];
  /** Alerts were queued in the book. */
  alertsQueued: [];
}

export type BucketFailed = (bucket: number, error: unknown) => void;

interface JournalledEntry {
  readonly bucket: number;
  readonly streamId: string;
  readonly entry: JournalEntry;
}

/**
 * One pass from the journals to the book: reads the oldest entries, commits them to the book, then deletes them from the
 * streams. Any number of gateways may do so at once, and any may die at any step: the book takes an entry id once, and a
 * deletion is idempotent.
 */
export class JournalPass {
  readonly #client: RedisClient;
  readonly #poster: PostApart;
  readonly #aside: SetAside;
  readonly #log: Log;
  readonly #events: EventEmitter<JournalEvents>;

  constructor(parts: { client: RedisClient; book: Book; log: Log; events: EventEmitter<JournalEvents> }) {
    this.#client = parts.client;
    this.#poster = new PostApart(parts.book);
    this.#aside = new SetAside(parts.log);
    this.#log = parts.log;
    this.#events = parts.events;
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
   * Entries that the book refuses stay, and keep back none behind them. Rejects where the book takes no entries; calls
   * `failed` for a bucket for which Redis does not answer.
   */
  async run(positions: StreamPositions, failed: BucketFailed): Promise<StreamPositions> {
    const { entries, more } = await this.#read(positions, failed);
    if (entries.length === 0) return more;
    const posting = await this.#poster.post(entries.map(({ entry }) => entry));
    if (posting.alerts > 0) this.#events.emit('alertsQueued');
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
    for (const { accountId, epoch } of posting.astray) {
      this.#log.warn({ accountId, epoch }, 'redis and book differ about an account; it is rebuilt');
      this.#events.emit('accountAstray', accountId, epoch);
    }
    return more;
  }

  /** Deletes entries that the book has. What it has is noted first: a restored book is known by that (restored-book.ts). */
  async #delete(bucket: number, booked: readonly JournalledEntry[]): Promise<void> {
    const newest = booked.at(-1)?.entry.id ?? '';
    await Promise.all([
      this.#client.hset(knownRedisKey(bucket), 'entry', newest),
      this.#client.xdel(journalRedisKey(bucket), ...booked.map(({ streamId }) => streamId)),
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
        this.#client.xrange(journalRedisKey(bucket), from, '+', 'COUNT', BATCH),
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
