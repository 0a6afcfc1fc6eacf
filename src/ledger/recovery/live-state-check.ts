import type { Book } from '../../book/book.ts';
import type { Log } from '../../log/log.ts';
import type { Stale } from '../ledger.ts';
import type { NodeReader } from '../redis/bucket-owners.ts';
import { accountRedisKey, bucketOf } from '../redis/redis-keys.ts';

/** A Redis that comes back may lack its last seconds; accounts quiet for longer than this cannot be concerned. */
const RECENT_MS = 3_600_000;
/** Keys and accounts changed within this are published again: Redis may lack what it had noted as published. */
const CHANGED_MS = 600_000;
/** Comparisons in a row: one that finds nothing behind must follow the last rebuild. */
const COMPARISONS = 3;

/**
 * Compares what a node of Redis holds with the book, and restores what it lacks.
 *
 * A Redis that was restarted, or a replica that was promoted, may have come back without what had been acknowledged last
 * (AOF everysec, asynchronous replication). The book tells: an account whose last entry in the book is not in Redis is
 * rebuilt. What is not in the book either, this gateway may remember: settles of the last seconds are looked up, and
 * records changed lately are published again.
 */
export class LiveStateCheck {
  readonly #book: Book;
  readonly #log: Log;
  readonly #hooks: {
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
    replay: (buckets: ReadonlySet<number>) => Promise<void>;
    republish: (changedSince: number, buckets: ReadonlySet<number>) => Promise<void>;
    adjustClock: () => Promise<void>;
  };

  constructor(options: {
    book: Book;
    log: Log;
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
    /** Settles again what this gateway settled in these buckets lately and neither Redis nor the book has. */
    replay: (buckets: ReadonlySet<number>) => Promise<void>;
    /** Publishes what is unpublished, or was changed since. */
    republish: (changedSince: number, buckets: ReadonlySet<number>) => Promise<void>;
    adjustClock: () => Promise<void>;
  }) {
    this.#book = options.book;
    this.#log = options.log;
    this.#hooks = options;
  }

  /** Resolves when these buckets are as new as the book, on the node that is read. Rejects with BookUnavailable too. */
  async verify(buckets: ReadonlySet<number>, reader: NodeReader): Promise<void> {
    await this.#hooks.adjustClock();
    const all = await this.#book.recentAccounts(Date.now() - RECENT_MS);
    const recent = all.filter(({ id }) => buckets.has(bucketOf(id)));
    for (let comparison = 1; ; comparison++) {
      const behind = await behindOf(recent, reader);
      if (behind.length === 0) break;
      if (comparison === COMPARISONS) throw new Error('accounts are behind the book again and again');
      this.#log.warn(
        { accounts: behind.length },
        'redis lost entries that the book has; rebuilding these accounts',
      );
      for (const { id, epoch } of behind) await this.#hooks.rebuild(id, { epoch });
    }
    await this.#hooks.replay(buckets);
    await this.#hooks.republish(Date.now() - CHANGED_MS, buckets);
  }
}

type Recent = Awaited<ReturnType<Book['recentAccounts']>>;

async function behindOf(recent: Recent, reader: NodeReader): Promise<Recent> {
  const live = await Promise.all(recent.map(({ id }) => reader.hmget(accountRedisKey(id), 'ep', 'seq')));
  return recent.filter(({ seq, epoch }, index) => {
    const [liveEpoch, liveSeq] = live[index] ?? [];
    // An account that is absent is rebuilt at its next use; one of a later epoch has been rebuilt meanwhile.
    if (!liveEpoch || Number(liveEpoch) > epoch) return false;
    return Number(liveEpoch) < epoch || Number(liveSeq) < seq;
  });
}
