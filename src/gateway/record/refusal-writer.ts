import type { BookRefusals, RefusedCount, RepeatedRefusal } from '../../book/refusals.ts';
import type { RefusedCall } from '../../domain/refused-call.ts';
import type { Log } from '../../log/log.ts';
import { Loop } from '../../log/loop.ts';
import type { FairPool, Share } from '../../shares/fair-pool.ts';
import { WAITING_REFUSALS } from '../../shares/pools.ts';

/** Sums that wait for the book at most; more are dropped. */
const MOST_SUMS = WAITING_REFUSALS.all;
/** Most pairs of key and code that are counted separately in one minute. */
const MOST_GROUPS = 50_000;
/** Records of one transaction, which the book's other writers wait for. */
const AT_ONCE = 500;
const WRITE_EVERY_MS = 500;
const LONGEST_BACKOFF_MS = 5_000;
const FORGET_EVERY_MS = 60_000;
/** Records that one statement removes: it takes some milliseconds. */
const FORGET_AT_ONCE = 2_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

interface RefusalSettings {
  /** Records of one key, code and minute; all others of the minute are one more. */
  readonly refusalsPerMinute: number;
  readonly refusalDays: number;
  readonly refusalRows: number;
}

interface Parts {
  readonly book: Pick<BookRefusals, 'recordRefusals' | 'forgetRefusals'>;
  readonly log: Log;
  readonly settings: RefusalSettings;
  /** Places of the records that wait, so that an account with thousands of keys leaves room for others. */
  readonly places: Pick<FairPool, 'take'>;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}

/** Calls that wait to be added to the sums. */
type Waiting = Omit<RefusedCount, 'count'> & { count: number };

/** Calls of one key, code and minute. */
interface Group {
  readonly minute: number;
  records: number;
  first: RefusedCall | undefined;
  repeated: number;
}

/**
 * Writes refused calls to the book, in batches behind the requests (specification section 14). A flood takes `refusalsPerMinute` records
 * and a counter. A batch whose commit is in doubt is written again: records keep their ids, but counters may count it twice.
 */
export class RefusalWriter {
  readonly #parts: Parts;
  readonly #now: () => number;
  readonly #writing: Loop;
  readonly #forgetting: Loop;
  readonly #groups = new Map<string, Group>();
  #calls: RefusedCall[] = [];
  /** The places of these calls, in their order. */
  readonly #shares: Share[] = [];
  #counts = new Map<string, Waiting>();
  #dropped = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#writing = new Loop('recording refused calls', WRITE_EVERY_MS, () => this.write(), parts.log, {
      longestMs: LONGEST_BACKOFF_MS,
    });
    this.#forgetting = new Loop(
      'removing old refused calls',
      FORGET_EVERY_MS,
      () => this.forget(),
      parts.log,
    );
  }

  /** Refused calls that were not recorded because too many waited. */
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

  /** Writes all waiting refusals, the counters of the running minute too. Refusals that the book does not take then are lost. */
  async stop(): Promise<void> {
    await Promise.all([this.#writing.stop(), this.#forgetting.stop()]);
    try {
      await this.write({ isLast: true });
    } catch (error) {
      this.#parts.log.warn({ err: error, count: this.#calls.length }, 'refused calls were not recorded');
    }
  }

  /**
   * Counts a call whose key, code and minute have all their records, as most of a flood have. False: it is to be noted. A flood
   * took 145 µs of CPU a refusal if each was made ready to be noted, and takes 128 so (its answer included).
   */
  countRepeated({
    keyId,
    code,
    createdAt,
    slug,
  }: Pick<RefusedCall, 'keyId' | 'code' | 'createdAt' | 'slug'>): boolean {
    const group = this.#groups.get(`${keyId} ${code} ${Math.floor(createdAt / MINUTE_MS)}`);
    if (!group?.first) return false;
    const count = this.#counts.get(countName(keyId, createdAt, slug));
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
    if ((hasRecord && !share) || (isNew && this.#groups.size >= MOST_GROUPS) || !this.#count(call)) {
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

  /** Adds the call to the sums that wait. False: too many of them do. */
  #count({ accountId, keyId, slug, createdAt }: RefusedCall): boolean {
    const name = countName(keyId, createdAt, slug);
    const known = this.#counts.get(name);
    if (known) known.count++;
    else if (this.#counts.size >= MOST_SUMS) return false;
    else this.#counts.set(name, { accountId, keyId, slug, hour: hourOf(createdAt), count: 1 });
    return true;
  }

  /** Writes the waiting refusals. Rejects as the book does; then everything waits on. */
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

  /** Takes the groups of past minutes, so that calls counted while they are written are not lost. */
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
      const name = `${one.keyId} ${one.hour} ${one.slug ?? ''}`;
      const count = one.count + (this.#counts.get(name)?.count ?? 0);
      this.#counts.set(name, { ...one, count });
    }
  }

  /** Removes records that are too old, or too many. */
  async forget(): Promise<void> {
    const { book, settings } = this.#parts;
    const before = this.#now() - settings.refusalDays * DAY_MS;
    const oldest = { before, rows: settings.refusalRows, limit: FORGET_AT_ONCE };
    while ((await book.forgetRefusals(oldest)) === FORGET_AT_ONCE);
  }
}

function hourOf(createdAt: number): number {
  return Math.floor(createdAt / HOUR_MS);
}

function countName(keyId: number, createdAt: number, slug: string | null): string {
  return `${keyId} ${hourOf(createdAt)} ${slug ?? ''}`;
}

function isRepeated(group: Group): group is Group & RepeatedRefusal {
  return group.first !== undefined;
}
