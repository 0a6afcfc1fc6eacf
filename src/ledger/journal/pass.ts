import type { EventEmitter } from 'node:events';
import type { Book } from '../../book/book.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import type { Log } from '../../log/log.ts';
import type { RedisClient } from '../redis/connect.ts';
import { journalRedisKey, knownRedisKey } from '../redis/redis-keys.ts';
import { draftOf, readJournalEntry, startsAnew } from './entry-text.ts';
import { PostApart } from './post-apart.ts';
import { postOnce } from './post-once.ts';
import { SetAside } from './set-aside.ts';

/** Most entries that a pass takes from one bucket. */
const BATCH = 500;

/** Position in the journal of each bucket from which a pass reads: a stream id as XRANGE takes it. */
export type StreamPositions = ReadonlyMap<number, string>;
export const OLDEST = '-';

/** What a drain finds that others must act on. */
export interface JournalEvents {
  /** Entries of the account cannot be booked before it is rebuilt; `epoch` is over. */
  accountBehind: [accountId: number, epoch: number];
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
 * deletion is idempotent. Entries that the book refuses as superseded (a rebuild came between, or they do not continue the
 * account's ledger, which is then rebuilt first) are applied again by lua/post-once.lua, once however many gateways try.
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
   * Entries that wait for a rebuild of their account stay, as do entries that the book refuses; neither keep back those
   * behind them. Rejects where the book takes no entries; calls `failed` for a bucket for which Redis does not answer.
   */
  async run(positions: StreamPositions, failed: BucketFailed): Promise<StreamPositions> {
    const { entries, more } = await this.#read(positions, failed);
    if (entries.length === 0) return more;
    const posting = await this.#poster.post(entries.map(({ entry }) => entry));
    if (posting.alerts > 0) this.#events.emit('alertsQueued');
    const done = new Map<number, JournalledEntry[]>();
    /** Epochs that are over, by the accounts to be rebuilt. */
    const behind = new Map<number, number>();
    for (const [index, journalled] of entries.entries()) {
      const { bucket, streamId, entry } = journalled;
      const result = posting.results[index];
      if (result instanceof Error) {
        this.#aside.add(bucket, streamId, { accountId: entry.accountId, entryId: entry.id, err: result });
      } else if (result === 'superseded') {
        await this.#repost(streamId, entry).then(
          ({ reply }) => {
            if (reply === 'MISSING') behind.set(entry.accountId, entry.epoch);
            else if (reply === 'BEYOND') this.#aside.add(bucket, streamId, noRoom(entry));
            else if (!more.has(bucket)) more.set(bucket, after(streamId));
          },
          (error: unknown) => failed(bucket, error),
        );
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
    for (const accountId of posting.gaps) {
      this.#log.error(
        { accountId },
        'entries are missing in the journal; the account is rebuilt from the book',
      );
      const last = entries.findLast(({ entry }) => entry.accountId === accountId);
      behind.set(accountId, last?.entry.epoch ?? 0);
    }
    for (const [accountId, epoch] of behind) this.#events.emit('accountBehind', accountId, epoch);
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

  /** Applies an entry again whose epoch is over. */
  #repost(streamId: string, entry: JournalEntry) {
    const epochs = { lowest: entry.epoch + 1 };
    return postOnce(this.#client, draftOf(entry), { starts: startsAnew(entry), replaces: streamId, epochs });
  }
}

function noRoom({ accountId, id }: JournalEntry): object {
  return { accountId, entryId: id, err: new Error('the balance has no room for it') };
}

function after(streamId: string): string {
  return `(${streamId}`;
}
