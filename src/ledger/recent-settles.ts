import type { EntryDraft } from '../domain/ledger-entry.ts';
import { BUCKETS } from './names.ts';

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
 * a bucket whose node is gone, the last seconds stay as they were, however long the failover takes.
 */
export class RecentSettles {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({ settles: [] as Settle[], first: 0 }));

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

  /** Oldest first. */
  of(bucket: number): readonly Settle[] {
    const recent = this.#buckets[bucket];
    return recent ? recent.settles.slice(recent.first) : [];
  }
}
