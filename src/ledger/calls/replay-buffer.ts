import type { EntryDraft } from '../../domain/ledger-entry.ts';
import { BUCKETS } from '../redis/redis-keys.ts';

/**
 * Longer than a replica lags behind its master, and than the second or two that a machine with `appendfsync everysec`
 * loses. At 1,000 calls a second, 5,000 settles are remembered.
 */
const REMEMBERED_MS = 5_000;
/**
 * Forgotten ones are cut off once they are so many, and half of what their bucket holds: each is then moved twice at most.
 * At 1,024 they were 25 MB where all buckets are in use, and are 7 now (70,000 settles, 2,000 a second).
 */
const CUT = 32;

interface Settle {
  readonly epoch: number;
  readonly draft: EntryDraft;
}

/**
 * What this gateway settled lately, by bucket. One is forgotten only when a later settle in the same bucket succeeds: of
 * a bucket whose node is gone, the last seconds stay as they were, however long the failover takes. And what was there when a
 * node came into doubt (`keep`) stays until it has been looked for (`checked`): where the book is away, calls go on long before.
 */
export class RecentSettles {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({
    settles: [] as Settle[],
    first: 0,
    kept: [] as Settle[],
    keeps: 0,
  }));

  add(bucket: number, settle: Settle): void {
    const recent = this.#buckets[bucket];
    if (!recent) throw new RangeError(`there is no bucket ${bucket}`);
    const { settles } = recent;
    settles.push(settle);
    const oldest = settle.draft.createdAt - REMEMBERED_MS;
    while ((settles[recent.first] as Settle).draft.createdAt < oldest) recent.first++;
    if (recent.first < CUT || recent.first * 2 < settles.length) return;
    settles.splice(0, recent.first);
    recent.first = 0;
  }

  /** The bucket's node may have lost what it had: nothing that is remembered now is forgotten before `checked`. */
  keep(bucket: number): void {
    const recent = this.#buckets[bucket];
    if (!recent) return;
    recent.kept = this.of(bucket);
    recent.keeps++;
    recent.settles = [];
    recent.first = 0;
  }

  /** How often the bucket was kept: for `checked`. */
  keeps(bucket: number): number {
    return this.#buckets[bucket]?.keeps ?? 0;
  }

  /** All that is remembered was looked for; nothing, if the bucket has been kept again since. */
  checked(bucket: number, keeps: number): void {
    const recent = this.#buckets[bucket];
    if (!recent || recent.keeps !== keeps) return;
    recent.settles = this.of(bucket);
    recent.first = 0;
    recent.kept = [];
  }

  /** Oldest first. */
  of(bucket: number): Settle[] {
    const recent = this.#buckets[bucket];
    return recent ? [...recent.kept, ...recent.settles.slice(recent.first)] : [];
  }
}
