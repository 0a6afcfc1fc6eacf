import type { BookRefusals, RefusedCount, RepeatedRefusal } from '../../book/refusals.ts';
import type { BookRetention } from '../../book/retention.ts';
import type { RefusedCall } from '../../domain/refused-call.ts';
import type { Log } from '../../log/log.ts';
import { Loop } from '../../log/loop.ts';
import type { FairPool, Share } from '../../shares/fair-pool.ts';
import { WAITING_REFUSALS } from '../../shares/pools.ts';

/** Maximum sums waiting for the book; more are dropped. */
const MAX_SUMS = WAITING_REFUSALS.all;
/** Maximum pairs of key and code counted separately per minute. */
const MAX_GROUPS = 50_000;
/** Records per transaction, which blocks the book's other writers. */
const AT_ONCE = 500;
const WRITE_EVERY_MS = 500;
const MAX_BACKOFF_MS = 5_000;
const FORGET_EVERY_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Hours of sums: reports by hour span at most 8 days. */
const SUMMED_HOURS = 9 * 24;
const DAY_MS = 86_400_000;

interface RefusalSettings {
  /** Records per key, code and minute; one more counts the rest. */
  readonly refusalsPerMinute: number;
  readonly refusalDays: number;
  readonly refusalRows: number;
  /** Days for which the audit log is kept; default 0: for ever. */
  readonly auditDays?: number;
}

interface Parts {
  readonly book: Pick<BookRefusals, 'recordRefusals'> & BookRetention;
  readonly log: Log;
  readonly settings: RefusalSettings;
  /** Places of waiting records, shared so that an account with thousands of keys leaves room for others. */
  readonly places: Pick<FairPool, 'take'>;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}

type Waiting = Omit<RefusedCount, 'count'> & { count: number };

/** Calls of one key, code and minute. */
interface Group {
  readonly minute: number;
  records: number;
  first: RefusedCall | undefined;
  repeated: number;
}

/**
 * Writes refused calls to the book in batches, in the background (specification section 14). A flood takes
 * `refusalsPerMinute` records and a counter. A batch whose commit is in doubt is written again: records keep their ids,
 * but counters may count it twice.
 */
export class RefusalWriter {
  readonly #parts: Parts;
  readonly #now: () => number;
  readonly #writing: Loop;
  readonly #forgetting: Loop;
  readonly #groups = new Map<string, Group>();
  #calls: RefusedCall[] = [];
  /** Places of these calls, in the same order. */
  readonly #shares: Share[] = [];
  #counts = new Map<string, Waiting>();
  #dropped = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#writing = new Loop('recording refused calls', WRITE_EVERY_MS, () => this.write(), parts.log, {
      longestMs: MAX_BACKOFF_MS,
    });
    this.#forgetting = new Loop(
      'removing old refused calls',
      FORGET_EVERY_MS,
      () => this.forget(),
      parts.log,
    );
  }

  /** Number of refused calls that were not recorded because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  get waiting(): number {
    return this.#calls.length;
  }

  start(): void {
    this.#writing.start();
    this.#forgetting.start();
    this.#forgetting.wake();
  }

  /**
   * Writes all waiting refusals, including the current minute's counters. Refusals that the book does not accept are
   * lost.
   */
  async stop(): Promise<void> {
    await Promise.all([this.#writing.stop(), this.#forgetting.stop()]);
    try {
      await this.write({ isLast: true });
    } catch (error) {
      this.#parts.log.warn({ err: error, count: this.#calls.length }, 'failed to record refused calls');
    }
  }

  /**
   * Counts a call whose key, code and minute already have all their records, like most of a flood. False: record it.
   * Preparing each record took 145 µs of CPU per refusal in a flood; now it takes 128 (including the answer).
   */
  countRepeated({ keyId, code, createdAt }: Pick<RefusedCall, 'keyId' | 'code' | 'createdAt'>): boolean {
    const group = this.#groups.get(`${keyId} ${code} ${Math.floor(createdAt / MINUTE_MS)}`);
    if (!group?.first) return false;
    const count = this.#counts.get(countName(keyId, hourOf(createdAt)));
    if (!count) return false;
    count.count++;
    group.repeated++;
    return true;
  }

  note(call: RefusedCall): void {
    const minute = Math.floor(call.createdAt / MINUTE_MS);
    const name = `${call.keyId} ${call.code} ${minute}`;
    const group = this.#groups.get(name) ?? { minute, records: 0, first: undefined, repeated: 0 };
    const hasRecord = group.records < this.#parts.settings.refusalsPerMinute;
    const isNew = group.records === 0 && group.repeated === 0;
    const share = hasRecord ? this.#parts.places.take(call.accountId) : undefined;
    if ((hasRecord && !share) || (isNew && this.#groups.size >= MAX_GROUPS) || !this.#count(call)) {
      share?.release();
      this.#dropped++;
      return;
    }
    if (isNew) this.#groups.set(name, group);
    if (share) {
      group.records++;
      this.#calls.push(call);
      this.#shares.push(share);
      return;
    }
    group.first ??= call;
    group.repeated++;
  }

  /** Adds the call to the waiting sums. False: too many wait. */
  #count({ accountId, keyId, createdAt }: RefusedCall): boolean {
    const hour = hourOf(createdAt);
    const name = countName(keyId, hour);
    const known = this.#counts.get(name);
    if (known) known.count++;
    else if (this.#counts.size >= MAX_SUMS) return false;
    else this.#counts.set(name, { accountId, keyId, hour, count: 1 });
    return true;
  }

  /** Writes the waiting refusals. If the book rejects, rejects too, and everything keeps waiting. */
  async write({ isLast = false } = {}): Promise<void> {
    const { book, settings } = this.#parts;
    do {
      const calls = this.#calls.slice(0, AT_ONCE);
      const over = this.#takeGroupsThatAreOver(isLast);
      const repeated = over.map(([, group]) => group).filter(isRepeated);
      const counts = [...this.#counts.values()];
      if (calls.length + repeated.length + counts.length === 0) return;
      this.#counts = new Map();
      try {
        await book.recordRefusals({ calls, repeated, counts }, settings.refusalsPerMinute);
      } catch (error) {
        this.#countAgain(counts);
        for (const [name, group] of over) this.#putBack(name, group);
        throw error;
      }
      this.#calls.splice(0, calls.length);
      for (const share of this.#shares.splice(0, calls.length)) share.release();
    } while (this.#calls.length > 0);
  }

  /** Takes the groups of past minutes, so that calls counted during the write are not lost. */
  #takeGroupsThatAreOver(isLast: boolean): [string, Group][] {
    const minute = isLast ? Number.POSITIVE_INFINITY : Math.floor(this.#now() / MINUTE_MS);
    const over = [...this.#groups].filter(([, group]) => group.minute < minute);
    for (const [name] of over) this.#groups.delete(name);
    return over;
  }

  #putBack(name: string, group: Group): void {
    const { first, repeated = 0, records = 0 } = this.#groups.get(name) ?? {};
    this.#groups.set(name, {
      ...group,
      first: group.first ?? first,
      records: group.records + records,
      repeated: group.repeated + repeated,
    });
  }

  #countAgain(counts: readonly RefusedCount[]): void {
    for (const one of counts) {
      const name = countName(one.keyId, one.hour);
      const count = one.count + (this.#counts.get(name)?.count ?? 0);
      this.#counts.set(name, { ...one, count });
    }
  }

  /** Deletes records that are too old or too many. */
  async forget(): Promise<void> {
    const { book, settings } = this.#parts;
    const now = this.#now();
    const since = now - settings.refusalDays * DAY_MS;
    const { auditDays = 0, refusalRows: rows } = settings;
    const auditSince = auditDays > 0 ? now - auditDays * DAY_MS : undefined;
    await book.forgetRecords({ since, rows, sinceHour: hourOf(now) - SUMMED_HOURS, auditSince });
  }
}

function hourOf(createdAt: number): number {
  return Math.floor(createdAt / HOUR_MS);
}

function countName(keyId: number, hour: number): string {
  return `${keyId} ${hour}`;
}

function isRepeated(group: Group): group is Group & RepeatedRefusal {
  return group.first !== undefined;
}
