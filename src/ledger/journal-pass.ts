import type { Book } from '../book/book.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './connect-redis.ts';
import { entryAnew } from './entry-anew.ts';
import { parseJournalEntry } from './entry-text.ts';
import { accountName, bucketOf, journalName } from './names.ts';
import type { Stale } from './rebuild.ts';

/** Entries that one bucket gives to a pass. */
const BATCH = 500;

/** Where in its journal a bucket is to be read from: a stream id as XRANGE takes it. */
export type Places = ReadonlyMap<number, string>;
export const OLDEST = '-';

export type BucketFailed = (bucket: number, error: unknown) => void;

interface Waiting {
  readonly bucket: number;
  readonly streamId: string;
  readonly entry: JournalEntry;
}

/**
 * Journal → book, one pass: reads the oldest entries, commits them to the book, then deletes them from the stream. Any
 * number of gateways may do so at once, and any may die anywhere: the book takes an entry id once, a deletion is
 * idempotent. Entries that the book refuses as superseded (a rebuild came between, or they do not continue its ledger, and
 * then the account is rebuilt first) are applied again by lua/repost.lua, which is once by itself.
 */
export class JournalPass {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;
  readonly #rebuild: (accountId: number, stale?: Stale) => Promise<void>;
  readonly #onAlerts: () => void;

  constructor(options: {
    client: RedisClient;
    book: Book;
    log: Log;
    /** Rebuilds an account in whose entries the book found a gap. */
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
    /** Alerts were queued in the book. */
    onAlerts: () => void;
  }) {
    this.#client = options.client;
    this.#book = options.book;
    this.#log = options.log;
    this.#rebuild = options.rebuild;
    this.#onAlerts = options.onAlerts;
  }

  /**
   * Takes from each bucket the entries from the place on that stands beside it. Resolves with the buckets that have more,
   * and from where: what must wait for a rebuild of its account stays, and does not keep back what is behind it. Rejects
   * where the book takes no entries; a bucket for which Redis does not answer is told to `failed`.
   */
  async run(places: Places, failed: BucketFailed): Promise<Places> {
    const { waiting, more } = await this.#read(places, failed);
    if (waiting.length === 0) return more;
    const posting = await this.#book.post(waiting.map(({ entry }) => entry));
    if (posting.alerts > 0) this.#onAlerts();
    const done = new Map<number, string[]>();
    /** Accounts to be rebuilt, and the epoch that is over. */
    const behind = new Map<number, number>();
    for (const [index, { bucket, streamId, entry }] of waiting.entries()) {
      if (posting.results[index] === 'superseded') {
        await this.#repost(streamId, entry).then(
          (isAnew) => {
            if (!isAnew) behind.set(entry.accountId, entry.epoch);
            else if (!more.has(bucket)) more.set(bucket, after(streamId));
          },
          (error: unknown) => failed(bucket, error),
        );
      } else {
        const ids = done.get(bucket);
        if (ids) ids.push(streamId);
        else done.set(bucket, [streamId]);
      }
    }
    await Promise.all(
      [...done].map(([bucket, ids]) =>
        this.#client.xdel(journalName(bucket), ...ids).catch((error: unknown) => failed(bucket, error)),
      ),
    );
    for (const accountId of posting.gaps) {
      this.#log.error(
        { accountId },
        'entries are missing in the journal; the account is rebuilt from the book',
      );
      const last = waiting.findLast(({ entry }) => entry.accountId === accountId);
      behind.set(accountId, last?.entry.epoch ?? 0);
    }
    for (const [accountId, epoch] of behind) this.#rebuildLater(accountId, epoch);
    return more;
  }

  async #read(
    places: Places,
    failed: BucketFailed,
  ): Promise<{ waiting: Waiting[]; more: Map<number, string> }> {
    const more = new Map<number, string>();
    const buckets = [...places.keys()];
    const replies = await Promise.allSettled(
      [...places].map(([bucket, from]) =>
        this.#client.xrange(journalName(bucket), from, '+', 'COUNT', BATCH),
      ),
    );
    const waiting = replies.flatMap((reply, index) => {
      const bucket = buckets[index] as number;
      if (reply.status === 'rejected') {
        failed(bucket, reply.reason);
        return [];
      }
      const last = reply.value.at(-1)?.[0];
      const hasMore = last !== undefined && reply.value.length === BATCH;
      try {
        const read = reply.value.map(([streamId, fields]) => waitingIn(bucket, streamId, fields));
        if (hasMore) more.set(bucket, after(last));
        return read;
      } catch (error) {
        // No gateway writes such an entry. It stays, with what is behind it, and keeps back no other bucket.
        failed(bucket, error);
        return [];
      }
    });
    return { waiting, more };
  }

  /** True where the entry stands in the journal anew; false where the account must be rebuilt first. */
  async #repost(streamId: string, entry: JournalEntry): Promise<boolean> {
    const { accountId, epoch } = entry;
    const { key, values } = entryAnew(entry);
    const journal = journalName(bucketOf(accountId));
    const reply = await this.#client.repost(accountName(accountId), key, journal, streamId, ...values, epoch);
    return reply !== 'MISSING';
  }

  /** Not awaited: a rebuild drains first and would wait for the very run that asks for it. */
  #rebuildLater(accountId: number, epoch: number): void {
    this.#rebuild(accountId, { epoch }).catch((error: unknown) =>
      this.#log.error({ err: error, accountId }, 'rebuild failed'),
    );
  }
}

function waitingIn(bucket: number, streamId: string, fields: readonly string[]): Waiting {
  return { bucket, streamId, entry: parseJournalEntry(fields[1] as string) };
}

function after(streamId: string): string {
  return `(${streamId}`;
}
