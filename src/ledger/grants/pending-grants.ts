import type { Book, Grant } from '../../book/book.ts';
import type { Log } from '../../log/log.ts';
import { Failures } from '../failures.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { BalanceBeyondBound } from '../ledger.ts';
import { bucketOf } from '../redis/redis-keys.ts';
import type { Grants } from './grants.ts';

/** Age from which the request that recorded a grant has surely finished with it. */
const GRANT_AGE_MS = 10_000;
/** Grants that one round looks at. */
const AT_ONCE = 100;

/** Applies grants that the book recorded and no ledger entry followed, because a gateway died in between. */
export class PendingGrants {
  readonly #book: Book;
  readonly #log: Log;
  readonly #drain: JournalDrain;
  readonly #grants: Grants;

  constructor(parts: { book: Book; log: Log; drain: JournalDrain; grants: Grants }) {
    this.#book = parts.book;
    this.#log = parts.log;
    this.#drain = parts.drain;
    this.#grants = parts.grants;
  }

  /** A failure keeps no other grant back; rejects at the end with all failures. */
  async apply(): Promise<void> {
    const pending = await this.#read();
    if (pending.length === 0) return;
    const failures = new Failures();
    // A grant may be applied and only not drained yet. One that is pending after a drain is not applied, or has its marker.
    const undrained = new Set<number>();
    const buckets = new Set(pending.map(({ accountId }) => bucketOf(accountId)));
    await Promise.all(
      [...buckets].map((bucket) =>
        failures.note(this.#drain.drain(bucket), () => {
          undrained.add(bucket);
        }),
      ),
    );
    for (const grant of await this.#read()) {
      if (!undrained.has(bucketOf(grant.accountId))) await failures.note(this.#apply(grant));
    }
    failures.throwAny();
  }

  #read(): Promise<Grant[]> {
    return this.#book.pendingGrants(Date.now() - GRANT_AGE_MS, AT_ONCE);
  }

  async #apply(grant: Grant): Promise<void> {
    try {
      await this.#grants.apply(grant);
    } catch (error) {
      if (!(error instanceof BalanceBeyondBound)) throw error;
      const { id, accountId, amount, type } = grant;
      await this.#book.withdrawGrant(id);
      this.#log.error(
        { accountId, grantId: id, amount, type },
        'a change of balance was refused: the balance has no room for it',
      );
    }
  }
}
