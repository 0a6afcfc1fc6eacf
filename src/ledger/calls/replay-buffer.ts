import type { EntryDraft } from '../../domain/ledger-entry.ts';
import type { PeriodStarts } from '../../domain/period.ts';
import type { TokenCorrection } from '../ledger.ts';
import { BUCKETS } from '../redis/redis-keys.ts';

/**
 * Longer than a replica lags behind its master, and than the second or two that a machine with `appendfsync everysec`
 * loses. At 1,000 calls a second, 5,000 settles are remembered.
 */
const REMEMBERED_MS = 5_000;
/**
 * Expired settles are removed once there are this many and they make up half of their bucket's array: amortised O(1).
 * At 1,024 they took 25 MB with all buckets in use, and take 7 MB at 32 (70,000 settles, 2,000 a second).
 */
const COMPACT_AT = 32;

interface Settle {
  readonly draft: EntryDraft;
  readonly correction?: TokenCorrection | undefined;
  readonly starts: PeriodStarts;
  /** By performance.now(). The call may have ended long before: a settle is sent until Redis answers. */
  readonly settledAt: number;
}

/**
 * Settles of the last seconds by this gateway, by bucket: what is settled again if Redis turns out to have lost it.
 *
 * A settle expires only when a later one in its bucket succeeds. So a bucket whose node is gone keeps its last seconds,
 * however long the failover takes. Settles that were in the buffer when a node came into doubt are pinned: they stay
 * until they have been looked up, which may be long after calls go on (while the book is away).
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

  /** Keeps everything that the bucket's buffer holds now until `unpin`. Begins a new generation. */
  pin(bucket: number): void {
    const buffer = this.#buckets[bucket];
    if (!buffer) return;
    buffer.pinned = this.entries(bucket);
    buffer.generation++;
    buffer.settles = [];
    buffer.first = 0;
  }

  /** Number of times that the bucket has been pinned; read it before `entries`, and give it to `unpin`. */
  generation(bucket: number): number {
    return this.#buckets[bucket]?.generation ?? 0;
  }

  /** Lets pinned settles expire again. Does nothing if the bucket has been pinned again since that generation. */
  unpin(bucket: number, generation: number): void {
    const buffer = this.#buckets[bucket];
    if (!buffer || buffer.generation !== generation) return;
    buffer.settles = this.entries(bucket);
    buffer.first = 0;
    buffer.pinned = [];
  }

  /** Settles of the bucket that are pinned or have not expired, oldest first. */
  entries(bucket: number): Settle[] {
    const buffer = this.#buckets[bucket];
    return buffer ? [...buffer.pinned, ...buffer.settles.slice(buffer.first)] : [];
  }
}
