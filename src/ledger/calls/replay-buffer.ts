import type { EntryDraft } from '../../domain/ledger-entry.ts';
import type { PeriodStarts } from '../../domain/period.ts';
import type { TokenCorrection } from '../ledger.ts';
import { BUCKETS } from '../redis/redis-keys.ts';

/**
 * Longer than a replica lags behind its master, and than the 1–2 s that a machine with `appendfsync everysec` can lose.
 * At 1,000 calls a second, the buffer has 5,000 settles.
 */
const REMEMBERED_MS = 5_000;
/**
 * Expired settles are removed once there are this many and they fill half of their bucket's array: amortized O(1). With
 * all buckets in use, 1,024 took 25 MB and 32 takes 7 MB (70,000 settles, 2,000 a second).
 */
const COMPACT_AT = 32;

interface Settle {
  readonly draft: EntryDraft;
  readonly correction?: TokenCorrection | undefined;
  readonly starts: PeriodStarts;
  /** By Redis' clock, in milliseconds since the epoch. */
  readonly now: number;
  /** By performance.now(), when Redis answered. The call may have ended long before. */
  readonly settledAt: number;
}

/**
 * This gateway's settles of the last seconds, by bucket, for replay if Redis lost them.
 *
 * A settle expires only when a later one in its bucket succeeds, so a bucket whose node is down keeps its last seconds
 * however long the failover takes. When a node comes into doubt, its buckets' settles are pinned until they have been
 * looked up. That may take longer than calls wait, if the book is down.
 */
export class ReplayBuffer {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({
    settles: [] as Settle[],
    /** Index of the first settle that has not expired. */
    first: 0,
    pinned: [] as Settle[],
    generation: 0,
  }));

  add(bucket: number, settle: Settle): void {
    const buffer = this.#buckets[bucket];
    if (!buffer) throw new RangeError(`there is no bucket ${bucket}`);
    const { settles } = buffer;
    settles.push(settle);
    const oldest = settle.settledAt - REMEMBERED_MS;
    while ((settles[buffer.first] as Settle).settledAt < oldest) buffer.first++;
    if (buffer.first < COMPACT_AT || buffer.first * 2 < settles.length) return;
    settles.splice(0, buffer.first);
    buffer.first = 0;
  }

  /** Pins everything in the bucket's buffer until `unpin` and begins a new generation. */
  pin(bucket: number): void {
    const buffer = this.#buckets[bucket];
    if (!buffer) return;
    buffer.pinned = this.entries(bucket);
    buffer.generation++;
    buffer.settles = [];
    buffer.first = 0;
  }

  /** Number of pins of the bucket. Read it before `entries`, and pass it to `unpin`. */
  generation(bucket: number): number {
    return this.#buckets[bucket]?.generation ?? 0;
  }

  /** Lets pinned settles expire again, unless the bucket was pinned again since that generation. */
  unpin(bucket: number, generation: number): void {
    const buffer = this.#buckets[bucket];
    if (!buffer || buffer.generation !== generation) return;
    buffer.settles = this.entries(bucket);
    buffer.first = 0;
    buffer.pinned = [];
  }

  /** Pinned and unexpired settles of the bucket, oldest first. */
  entries(bucket: number): Settle[] {
    const buffer = this.#buckets[bucket];
    return buffer ? [...buffer.pinned, ...buffer.settles.slice(buffer.first)] : [];
  }
}
