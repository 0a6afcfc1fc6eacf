import { EventEmitter } from 'node:events';
import type { Book } from '../../book/book.ts';
import type { Log } from '../../log/log.ts';
import { Loop } from '../../log/loop.ts';
import type { RedisClient } from '../redis/connect.ts';
import { ALL_BUCKETS, journalRedisKey } from '../redis/redis-keys.ts';
import { readJournalEntry } from './entry-text.ts';
import { type JournalEvents, JournalPass, OLDEST, type StreamPositions } from './pass.ts';

/** Time for which fresh entries are gathered: one book transaction (one fsync) serves all. Lag stays below 250 ms. */
const GATHER_MS = 100;
/** Longest pause between tries while the book is away: gathered entries are in the book this soon after it is back. */
const LONGEST_BACKOFF_MS = 1_000;
/** Pause between looks for journals that other gateways left behind. */
const STRAY_MS = 2_000;

/** Buckets that a run could not drain, each with the reason. */
type Undrained = Map<number, unknown>;

interface JournalDrainParts {
  readonly client: RedisClient;
  readonly book: Book;
  readonly log: Log;
  readonly maxEntries: number;
}

export class JournalDrain {
  readonly #parts: JournalDrainParts;
  readonly events = new EventEmitter<JournalEvents>();
  readonly #pass: JournalPass;
  readonly #dirty = new Set<number>();
  readonly #stray: Loop;
  #timer: NodeJS.Timeout | undefined;
  /** Delay that the timer was set with. */
  #timerMs = 0;
  #run: Promise<Undrained> = Promise.resolve(new Map());
  /** The run that begins when the current one has ended. */
  #next: Promise<Undrained> | undefined;
  #stopped = false;
  #backoffMs = 0;
  #length = 0;
  #isAsideLogged = false;

  /** `maxEntries`: how many entries may wait for the book before `isFull`. */
  constructor(parts: JournalDrainParts) {
    this.#parts = parts;
    this.#pass = new JournalPass({ ...parts, events: this.events });
    this.#stray = new Loop('looking for undrained journals', STRAY_MS, () => this.#findStray(), parts.log);
  }

  start(): void {
    this.#stray.start();
  }

  /** Has the bucket drained soon: something was appended to its journal. */
  markDirty(bucket: number): void {
    this.#dirty.add(bucket);
    if (this.#stopped) return;
    const waitMs = Math.max(GATHER_MS, this.#backoffMs);
    // A timer that backs off from a book that has come back since must not keep fresh entries waiting.
    if (this.#timer && this.#timerMs <= waitMs) return;
    clearTimeout(this.#timer);
    this.#timerMs = waitMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#enqueue();
    }, waitMs);
  }

  /**
   * Resolves when every entry that the bucket's journal held at the time of the call is in the book, but for entries that
   * the book refuses (pass.ts). Rejects if it could not be drained.
   */
  async drain(bucket: number): Promise<void> {
    this.#dirty.add(bucket);
    const undrained = await this.#enqueue();
    if (undrained.has(bucket)) throw undrained.get(bucket);
  }

  /** Drains every bucket. Rejects if one could not be drained. */
  async drainAll(): Promise<void> {
    for (const bucket of ALL_BUCKETS) this.#dirty.add(bucket);
    for (const error of (await this.#enqueue()).values()) throw error;
  }

  /**
   * Ids of the entries that are in the bucket's journal after it was drained: entries that came meanwhile, and entries that
   * the book refuses. Rejects if the journal could not be drained or read.
   */
  async undrained(bucket: number): Promise<ReadonlySet<string>> {
    await this.drain(bucket);
    const entries = await this.#parts.client.xrange(journalRedisKey(bucket), '-', '+');
    return new Set(entries.flatMap(([, fields]) => readJournalEntry(fields[1])?.id ?? []));
  }

  /**
   * The ids among these whose entries are in the bucket's journal or in the book. The journal is asked first, as an entry
   * moves from there to the book: none is missed on its way. Rejects if either cannot be read.
   */
  async entriesAmong(bucket: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const journalled = await this.undrained(bucket);
    const booked = await this.#parts.book.entriesAmong(ids);
    return new Set(ids.filter((id) => journalled.has(id) || booked.has(id)));
  }

  /**
   * Whether more entries wait for the book than may: then no further call should be admitted, or Redis would run out of
   * memory. Looked at every two seconds, so the calls of that time come on top.
   */
  get isFull(): boolean {
    return this.#length >= this.#parts.maxEntries;
  }

  /**
   * Entries of all buckets that are not in the book yet, and the time of the oldest (ms since the epoch, by the clock of
   * Redis). Rejects if a part of Redis does not answer.
   */
  async backlog(): Promise<{ readonly entries: number; readonly oldestAt: number | undefined }> {
    const journals = await Promise.all(
      ALL_BUCKETS.map(async (bucket) => {
        const name = journalRedisKey(bucket);
        const entries = await this.#parts.client.xlen(name);
        const [first] = entries > 0 ? await this.#parts.client.xrange(name, '-', '+', 'COUNT', 1) : [];
        return { entries, oldestAt: first ? Number.parseInt(first[0], 10) : Number.POSITIVE_INFINITY };
      }),
    );
    const oldestAt = Math.min(...journals.map((journal) => journal.oldestAt));
    return {
      entries: journals.reduce((sum, journal) => sum + journal.entries, 0),
      oldestAt: Number.isFinite(oldestAt) ? oldestAt : undefined,
    };
  }

  /** Number of entries that the book did not take when their journals were drained last. */
  get refused(): number {
    return this.#pass.refused;
  }

  /** Drains every journal, tried again until `deadlineMs` have passed. Never rejects: the next start does the rest. */
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
          this.#parts.log.error(
            { err: error },
            'stopped with entries in the journal; the next start drains them',
          );
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    } while (Date.now() < until);
  }

  /** Stops at once and leaves the journals as they are. */
  abandon(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    void this.#stray.stop();
  }

  async #findStray(): Promise<void> {
    const lengths = await Promise.allSettled(
      ALL_BUCKETS.map((bucket) => this.#parts.client.xlen(journalRedisKey(bucket))),
    );
    this.#length = 0;
    for (const [bucket, length] of lengths.entries()) {
      // A node that is away keeps back its own journals only; they are looked at again.
      if (length.status === 'rejected') continue;
      if (length.value === 0) this.#pass.emptied(bucket);
      if (length.value === 0) continue;
      this.#length += length.value;
      this.markDirty(bucket);
    }
  }

  /**
   * One run serves everybody who asks before it begins, for it takes whatever is dirty then. Of two runs, the second would
   * find nothing to do, and tell its caller that all is well if the first could not drain.
   */
  #enqueue(): Promise<Undrained> {
    this.#next ??= this.#run.then(() => {
      this.#next = undefined;
      return this.#drainDirty();
    });
    this.#run = this.#next;
    return this.#run;
  }

  /** Drains the buckets that are dirty now. Later ones are for the next run: under steady load this one would never end. */
  async #drainDirty(): Promise<Undrained> {
    const undrained: Undrained = new Map();
    let positions: StreamPositions = new Map([...this.#dirty].map((bucket) => [bucket, OLDEST]));
    this.#dirty.clear();
    try {
      const failed = (bucket: number, error: unknown) => this.#leaveAside(undrained, bucket, error);
      while (positions.size > 0) positions = await this.#pass.run(positions, failed);
      this.#backoffMs = 0;
    } catch (error) {
      if (this.#backoffMs === 0)
        this.#parts.log.warn({ err: error }, 'the journal could not be drained; calls go on');
      this.#backoffMs = Math.min(Math.max(100, this.#backoffMs * 2), LONGEST_BACKOFF_MS);
      for (const bucket of positions.keys()) {
        undrained.set(bucket, error);
        this.markDirty(bucket);
      }
    }
    if (undrained.size === 0) this.#isAsideLogged = false;
    return undrained;
  }

  /** Notes a bucket for which Redis did not answer. The others are drained; the look for stray journals returns to it. */
  #leaveAside(undrained: Undrained, bucket: number, error: unknown): void {
    undrained.set(bucket, error);
    if (this.#isAsideLogged) return;
    this.#isAsideLogged = true;
    this.#parts.log.warn({ err: error, bucket }, 'a journal could not be drained; others are');
  }
}
