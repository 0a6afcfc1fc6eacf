import { EventEmitter } from 'node:events';
import type { Book } from '../../book/book.ts';
import type { Log } from '../../log/log.ts';
import { Loop } from '../../log/loop.ts';
import type { RedisClient } from '../redis/connect.ts';
import { ALL_BUCKETS, journalRedisKey } from '../redis/redis-keys.ts';
import { readJournalEntry } from './entry-text.ts';
import { type JournalEvents, JournalPass, OLDEST, type StreamPositions } from './pass.ts';

/** Delay that batches fresh entries into one book transaction (one fsync). Lag stays below 250 ms. */
const GATHER_MS = 100;
/** Maximum retry delay while the book is down, and so the delay after it is back. */
const MAX_BACKOFF_MS = 1_000;
/** Interval of the search for journals that other gateways left behind. */
const STRAY_MS = 2_000;

/** Buckets that a run could not drain, with the errors. */
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
  #timerMs = 0;
  #run: Promise<Undrained> = Promise.resolve(new Map());
  /** The run after the current one. */
  #next: Promise<Undrained> | undefined;
  #stopped = false;
  #backoffMs = 0;
  #length = 0;
  #isSkipLogged = false;

  /** `maxEntries`: journal length from which `isFull` is true. */
  constructor(parts: JournalDrainParts) {
    this.#parts = parts;
    this.#pass = new JournalPass({ ...parts, events: this.events });
    this.#stray = new Loop('looking for undrained journals', STRAY_MS, () => this.#findStray(), parts.log);
  }

  start(): void {
    this.#stray.start();
  }

  /** Schedules a drain of the bucket after an append to its journal. */
  markDirty(bucket: number): void {
    this.#dirty.add(bucket);
    if (this.#stopped) return;
    const waitMs = Math.max(GATHER_MS, this.#backoffMs);
    // A backoff timer from before the book came back must not delay fresh entries.
    if (this.#timer && this.#timerMs <= waitMs) return;
    clearTimeout(this.#timer);
    this.#timerMs = waitMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#enqueue();
    }, waitMs);
  }

  /**
   * Resolves when the book has every entry that the journal had at the time of the call, except entries that it refuses
   * (pass.ts). Rejects if the drain fails.
   */
  async drain(bucket: number): Promise<void> {
    this.#dirty.add(bucket);
    const undrained = await this.#enqueue();
    if (undrained.has(bucket)) throw undrained.get(bucket);
  }

  /** Drains every bucket. Rejects if one drain fails. */
  async drainAll(): Promise<void> {
    for (const bucket of ALL_BUCKETS) this.#dirty.add(bucket);
    for (const error of (await this.#enqueue()).values()) throw error;
  }

  /**
   * Drains the bucket and returns the ids left in its journal: entries that arrived meanwhile or that the book refuses.
   * Rejects if the journal can't be drained or read.
   */
  async undrained(bucket: number): Promise<ReadonlySet<string>> {
    await this.drain(bucket);
    const entries = await this.#parts.client.xrange(journalRedisKey(bucket), '-', '+');
    return new Set(entries.flatMap(([, fields]) => readJournalEntry(fields[1])?.id ?? []));
  }

  /**
   * Returns those ids whose entries are in the bucket's journal or in the book. Entries move from journal to book, so
   * reading the journal first misses none. Rejects if either read fails.
   */
  async entriesAmong(bucket: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const journalled = await this.undrained(bucket);
    const booked = await this.#parts.book.entriesAmong(ids);
    return new Set(ids.filter((id) => journalled.has(id) || booked.has(id)));
  }

  /**
   * Whether the journal has reached `maxEntries`; no further call should then be admitted, or Redis would run out of
   * memory. Updated every two seconds, so calls of that time come on top.
   */
  get isFull(): boolean {
    return this.#length >= this.#parts.maxEntries;
  }

  /**
   * Counts journal entries of all buckets, and returns the time of the oldest (ms since the epoch, by Redis' clock).
   * Rejects if a Redis node does not answer.
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

  /** Number of entries that the book refused in the last drains. */
  get refused(): number {
    return this.#pass.refused;
  }

  /** Drains every journal, with retries for `deadlineMs`. False: the next start drains the rest. Never rejects. */
  async stop(deadlineMs: number): Promise<boolean> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#stray.stop();
    const until = Date.now() + deadlineMs;
    do {
      try {
        await this.drainAll();
        return true;
      } catch (error) {
        if (Date.now() >= until) {
          this.#parts.log.error(
            { err: error },
            'stopped with entries in the journal; the next start drains them',
          );
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    } while (Date.now() < until);
    return false;
  }

  /** Stops at once without draining. */
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
      // Journals of a node that is down are retried in the next round.
      if (length.status === 'rejected') continue;
      if (length.value === 0) this.#pass.emptied(bucket);
      if (length.value === 0) continue;
      this.#length += length.value;
      this.markDirty(bucket);
    }
  }

  /**
   * One run serves everyone who asks before it starts. A second concurrent run would find nothing dirty and report
   * success even if the first one fails.
   */
  #enqueue(): Promise<Undrained> {
    this.#next ??= this.#run.then(() => {
      this.#next = undefined;
      return this.#drainDirty();
    });
    this.#run = this.#next;
    return this.#run;
  }

  /**
   * Drains the buckets that are dirty now. Later ones wait for the next run: under steady load this one would never
   * end.
   */
  async #drainDirty(): Promise<Undrained> {
    const undrained: Undrained = new Map();
    let positions: StreamPositions = new Map([...this.#dirty].map((bucket) => [bucket, OLDEST]));
    this.#dirty.clear();
    try {
      const failed = (bucket: number, error: unknown) => this.#skip(undrained, bucket, error);
      while (positions.size > 0) positions = await this.#pass.run(positions, failed);
      this.#backoffMs = 0;
    } catch (error) {
      if (this.#backoffMs === 0)
        this.#parts.log.warn({ err: error }, 'failed to drain the journal; calls go on');
      this.#backoffMs = Math.min(Math.max(100, this.#backoffMs * 2), MAX_BACKOFF_MS);
      for (const bucket of positions.keys()) {
        undrained.set(bucket, error);
        this.markDirty(bucket);
      }
    }
    if (undrained.size === 0) this.#isSkipLogged = false;
    return undrained;
  }

  /** Skips a bucket whose node did not answer; the search for stray journals returns to it. */
  #skip(undrained: Undrained, bucket: number, error: unknown): void {
    undrained.set(bucket, error);
    if (this.#isSkipLogged) return;
    this.#isSkipLogged = true;
    this.#parts.log.warn({ err: error, bucket }, 'failed to drain a journal; the others go on');
  }
}
