import type { Book } from '../book/book.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import { periodStarts, periodsOfDay } from '../domain/period.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './connect-redis.ts';
import { draftOf, draftText, parseJournalEntry } from './entry-text.ts';
import { Loop } from './loop.ts';
import { accountName, BUCKETS, bucketOf, journalName, keyName } from './names.ts';
import type { Stale } from './rebuild.ts';

/** Entries that one bucket gives to a batch. */
const BATCH = 500;
/** How long fresh entries wait for company: one book transaction (one fsync) serves all. Lag stays below 250 ms. */
const GATHER_MS = 100;
/** How often buckets that other gateways left behind are looked at. */
const STRAY_MS = 2_000;

const ALL = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

/** Buckets that a run could not drain, each with the reason. */
type Undrained = Map<number, unknown>;

interface Waiting {
  readonly bucket: number;
  readonly streamId: string;
  readonly entry: JournalEntry;
}

/**
 * Journal → book. States: idle → gathering (GATHER_MS after the first dirty bucket) → draining → idle.
 *
 * Reads the oldest entries, commits them to the book, then deletes them from the stream. Any number of gateways may do
 * so at once, and any may die anywhere: the book takes an entry id once, a deletion is idempotent. Entries that the
 * book refuses as superseded (a rebuild came between) are applied again by lua/repost.lua, which is once by itself.
 */
export class JournalDrain {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;
  readonly #rebuild: (accountId: number, stale?: Stale) => Promise<void>;
  readonly #onAlerts: () => void;
  readonly #dirty = new Set<number>();
  readonly #stray: Loop;
  #timer: NodeJS.Timeout | undefined;
  #run: Promise<Undrained> = Promise.resolve(new Map());
  readonly #maxEntries: number;
  #stopped = false;
  #backoffMs = 0;
  #length = 0;
  #isAsideLogged = false;

  constructor(options: {
    client: RedisClient;
    book: Book;
    log: Log;
    /** Rebuilds an account in whose entries the book found a gap. */
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
    /** Alerts were queued in the book. */
    onAlerts: () => void;
    /** How many entries may wait for the book before `isFull`. */
    maxEntries: number;
  }) {
    this.#client = options.client;
    this.#book = options.book;
    this.#log = options.log;
    this.#rebuild = options.rebuild;
    this.#onAlerts = options.onAlerts;
    this.#maxEntries = options.maxEntries;
    this.#stray = new Loop('looking for undrained journals', STRAY_MS, () => this.#findStray(), options.log);
  }

  start(): void {
    this.#stray.start();
  }

  /** Something was appended to the bucket's journal. */
  touch(bucket: number): void {
    this.#dirty.add(bucket);
    if (this.#stopped || this.#timer) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#enqueue();
      },
      Math.max(GATHER_MS, this.#backoffMs),
    );
  }

  /** Resolves when everything that the bucket's journal held at the time of the call is in the book; else rejects. */
  async drain(bucket: number): Promise<void> {
    this.#dirty.add(bucket);
    const undrained = await this.#enqueue();
    if (undrained.has(bucket)) throw undrained.get(bucket);
  }

  /** The same for all buckets. */
  async drainAll(): Promise<void> {
    for (let bucket = 0; bucket < BUCKETS; bucket++) this.#dirty.add(bucket);
    for (const error of (await this.#enqueue()).values()) throw error;
  }

  /**
   * Those of the ids that stand in the bucket's journal or in the book, after what the journal held was offered to the
   * book. It is asked in the order in which an entry moves, so that none is missed on its way; one that the book refused
   * until its account is rebuilt is still in the journal. Rejects where either cannot be read.
   */
  async entriesAmong(bucket: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    await this.drain(bucket);
    const waiting = await this.#client.xrange(journalName(bucket), '-', '+');
    const journalled = new Set(waiting.map(([, fields]) => parseJournalEntry(fields[1] as string).id));
    const booked = await this.#book.entriesAmong(ids);
    return new Set(ids.filter((id) => journalled.has(id) || booked.has(id)));
  }

  /**
   * More entries wait for the book than may: no further call should be admitted, or Redis would run out of memory.
   * Looked at every two seconds, so calls of that time come on top.
   */
  get isFull(): boolean {
    return this.#length >= this.#maxEntries;
  }

  /**
   * Entries not yet in the book, over all buckets, and when the oldest came (ms since epoch, by the clock of
   * Redis). Rejects where a part of Redis does not answer.
   */
  async backlog(): Promise<{ readonly entries: number; readonly oldestAt: number | undefined }> {
    const journals = await Promise.all(
      ALL.map(async (bucket) => {
        const name = journalName(bucket);
        const entries = await this.#client.xlen(name);
        const [first] = entries > 0 ? await this.#client.xrange(name, '-', '+', 'COUNT', 1) : [];
        return { entries, oldestAt: first ? Number.parseInt(first[0], 10) : Number.POSITIVE_INFINITY };
      }),
    );
    const oldestAt = Math.min(...journals.map((journal) => journal.oldestAt));
    return {
      entries: journals.reduce((sum, journal) => sum + journal.entries, 0),
      oldestAt: Number.isFinite(oldestAt) ? oldestAt : undefined,
    };
  }

  /** Drains what is left, until done or the deadline (ms from now) has passed. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#stray.stop();
    const until = Date.now() + deadlineMs;
    do {
      try {
        await this.drainAll();
        return;
      } catch (error) {
        if (Date.now() >= until) {
          this.#log.error({ err: error }, 'stopped with entries in the journal; the next start drains them');
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    } while (Date.now() < until);
  }

  /** Stops at once, leaving the journal as it is. */
  abandon(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    void this.#stray.stop();
  }

  async #findStray(): Promise<void> {
    const lengths = await Promise.allSettled(ALL.map((bucket) => this.#client.xlen(journalName(bucket))));
    this.#length = 0;
    for (const [bucket, length] of lengths.entries()) {
      // A node that is away keeps back only its own; it is looked at again.
      if (length.status === 'rejected' || length.value === 0) continue;
      this.#length += length.value;
      this.touch(bucket);
    }
  }

  #enqueue(): Promise<Undrained> {
    this.#run = this.#run.then(() => this.#drainDirty());
    return this.#run;
  }

  /** What becomes dirty meanwhile is for the next run: under steady load this one would never end. */
  async #drainDirty(): Promise<Undrained> {
    const undrained: Undrained = new Map();
    let buckets = new Set(this.#dirty);
    this.#dirty.clear();
    try {
      while (buckets.size > 0) buckets = await this.#drainBuckets(buckets, undrained);
      this.#backoffMs = 0;
    } catch (error) {
      if (this.#backoffMs === 0)
        this.#log.warn({ err: error }, 'the journal could not be drained; calls go on');
      this.#backoffMs = Math.min(Math.max(100, this.#backoffMs * 2), 5_000);
      for (const bucket of buckets) {
        undrained.set(bucket, error);
        this.touch(bucket);
      }
    }
    if (undrained.size === 0) this.#isAsideLogged = false;
    return undrained;
  }

  /** Redis did not answer for this bucket; the others are drained, and the look for stray entries comes back to it. */
  #leaveAside(undrained: Undrained, bucket: number, error: unknown): void {
    undrained.set(bucket, error);
    if (this.#isAsideLogged) return;
    this.#isAsideLogged = true;
    this.#log.warn({ err: error, bucket }, 'a journal could not be drained; others are');
  }

  /** The buckets that have more. Rejects where the book takes no entries; what Redis does not answer goes to `undrained`. */
  async #drainBuckets(buckets: ReadonlySet<number>, undrained: Undrained): Promise<Set<number>> {
    const { waiting, more } = await this.#read([...buckets], undrained);
    if (waiting.length === 0) return more;
    const posting = await this.#book.post(waiting.map(({ entry }) => entry));
    if (posting.alerts > 0) this.#onAlerts();
    const done = new Map<number, string[]>();
    for (const [index, { bucket, streamId, entry }] of waiting.entries()) {
      if (posting.results[index] === 'superseded') {
        await this.#repost(streamId, entry).then(
          (isAnew) => isAnew && more.add(bucket),
          (error: unknown) => this.#leaveAside(undrained, bucket, error),
        );
      } else {
        const ids = done.get(bucket);
        if (ids) ids.push(streamId);
        else done.set(bucket, [streamId]);
      }
    }
    await Promise.all(
      [...done].map(([bucket, ids]) =>
        this.#client
          .xdel(journalName(bucket), ...ids)
          .catch((error: unknown) => this.#leaveAside(undrained, bucket, error)),
      ),
    );
    for (const accountId of posting.gaps) {
      const epoch = waiting.findLast(({ entry }) => entry.accountId === accountId)?.entry.epoch ?? 0;
      this.#log.error({ accountId }, 'entries are missing in the journal; the account is rebuilt');
      this.#rebuildLater(accountId, epoch);
    }
    return more;
  }

  async #read(
    buckets: readonly number[],
    undrained: Undrained,
  ): Promise<{ waiting: Waiting[]; more: Set<number> }> {
    const more = new Set<number>();
    const replies = await Promise.allSettled(
      buckets.map((bucket) => this.#client.xrange(journalName(bucket), '-', '+', 'COUNT', BATCH)),
    );
    const waiting = replies.flatMap((reply, index) => {
      const bucket = buckets[index] as number;
      if (reply.status === 'rejected') {
        this.#leaveAside(undrained, bucket, reply.reason);
        return [];
      }
      if (reply.value.length === BATCH) more.add(bucket);
      return reply.value.map(([streamId, fields]) => ({
        bucket,
        streamId,
        entry: parseJournalEntry(fields[1] as string),
      }));
    });
    return { waiting, more };
  }

  /** True where the entry stands in the journal anew; false where the account must be rebuilt first. */
  async #repost(streamId: string, entry: JournalEntry): Promise<boolean> {
    const { accountId, keyId, credits } = entry;
    // What is given back counts for the day of its charge.
    const starts = entry.type === 'refund' ? periodsOfDay(entry.day) : periodStarts(Date.now());
    const reply = await this.#client.repost(
      accountName(accountId),
      keyId === null ? accountName(accountId) : keyName(accountId, keyId),
      journalName(bucketOf(accountId)),
      streamId,
      keyId === null ? 0 : 1,
      credits,
      starts.day,
      starts.week,
      starts.month,
      draftText(draftOf(entry)),
      entry.epoch,
    );
    if (reply !== 'MISSING') return true;
    this.#rebuildLater(accountId, entry.epoch);
    return false;
  }

  /** Not awaited: a rebuild drains first and would wait for the very run that asks for it. */
  #rebuildLater(accountId: number, epoch: number): void {
    this.#rebuild(accountId, { epoch }).catch((error: unknown) =>
      this.#log.error({ err: error, accountId }, 'rebuild failed'),
    );
  }
}
