import type { Book } from '../../book/book.ts';
import type { Grant } from '../../book/grants.ts';
import type { Charge } from '../../book/ledger.ts';
import { type Micro, micro } from '../../domain/credits.ts';
import { type EntryDraft, refundId } from '../../domain/ledger-entry.ts';
import { periodStarts, periodsOfDay } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import { Failures } from '../../log/loop.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { applyGrant, type PostedOnce, postOnce } from '../journal/post-once.ts';
import { BalanceBeyondBound, LedgerUnavailable, type Stale } from '../ledger.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountRedisKey, bucketOf, holdsRedisKey } from '../redis/redis-keys.ts';
import type { LiveAccess } from './connection-gate.ts';
import { REBUILDS } from './rebuild.ts';

interface GrantsParts {
  readonly client: RedisClient;
  readonly live: LiveAccess;
  readonly book: Book;
  readonly drain: JournalDrain;
  readonly clock: RedisClock;
}

export class Grants {
  readonly #parts: GrantsParts;

  constructor(parts: GrantsParts) {
    this.#parts = parts;
  }

  /** Applies a grant and returns the balance after it. Rejects with BalanceBeyondBound or LedgerUnavailable. */
  async apply(grant: Omit<Grant, 'balanceAfter'>): Promise<Micro> {
    const { accountId, id } = grant;
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const [epoch, now] = await this.#parts.live.run(accountId, () =>
        this.#parts.client.hmget(accountRedisKey(accountId), 'ep', 'bal'),
      );
      if (epoch) {
        if (await this.#isInBook(id)) return micro(Number(now));
        const starts = periodStarts(this.#parts.clock.now(bucketOf(accountId)));
        const balance = await this.#parts.live.run(accountId, () =>
          applyGrant(this.#parts.client, grant, epoch, starts),
        );
        if (balance !== undefined) {
          this.#parts.drain.markDirty(bucketOf(accountId));
          return balance;
        }
      }
      await this.#parts.live.rebuild(accountId, {});
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  async #isInBook(id: string): Promise<boolean> {
    try {
      return (await this.#parts.book.entriesAmong([id])).has(id);
    } catch (cause) {
      throw new LedgerUnavailable('the book did not answer', { cause });
    }
  }
}

/** Age at which the request that recorded a grant has surely ended. */
const GRANT_AGE_MS = 10_000;
/** Grants per round. */
const AT_ONCE = 100;

interface PendingGrantsParts {
  readonly book: Book;
  readonly log: Log;
  readonly drain: JournalDrain;
  readonly grants: Grants;
}

export class PendingGrants {
  readonly #parts: PendingGrantsParts;

  constructor(parts: PendingGrantsParts) {
    this.#parts = parts;
  }

  /** Applies pending grants. Continues after failures and rejects at the end with all of them. */
  async apply(): Promise<void> {
    const failures = new Failures();
    const createdBefore = Date.now() - GRANT_AGE_MS;
    let last: Grant | undefined;
    for (let isFull = true; isFull; ) {
      const read = () => this.#parts.book.pendingGrants(createdBefore, AT_ONCE, last);
      const pending = await read();
      if (pending.length > 0) await this.#applyPage(pending, read, failures);
      last = pending.at(-1);
      isFull = pending.length === AT_ONCE;
    }
    failures.throwAny();
  }

  async #applyPage(
    pending: readonly Grant[],
    read: () => Promise<Grant[]>,
    failures: Failures,
  ): Promise<void> {
    // An applied grant may not be drained yet. If it is pending after a drain, it is not applied or has its marker.
    const undrained = new Set<number>();
    const buckets = new Set(pending.map(({ accountId }) => bucketOf(accountId)));
    await Promise.all(
      [...buckets].map((bucket) =>
        failures.collect(this.#parts.drain.drain(bucket), () => {
          undrained.add(bucket);
        }),
      ),
    );
    const ids = new Set(pending.map(({ id }) => id));
    for (const grant of await read()) {
      if (ids.has(grant.id) && !undrained.has(bucketOf(grant.accountId)))
        await failures.collect(this.#apply(grant));
    }
  }

  async #apply(grant: Grant): Promise<void> {
    try {
      await this.#parts.grants.apply(grant);
    } catch (error) {
      if (!(error instanceof BalanceBeyondBound)) throw error;
      const { id, accountId, amount, type } = grant;
      await this.#parts.book.withdrawGrant(id);
      this.#parts.log.error(
        { accountId, grantId: id, amount, type },
        'change of balance refused: the balance has no room for it',
      );
    }
  }
}

/** Maximum rebuilds per refund; after that, the state is lost as fast as it is restored. */
const REFUND_REBUILDS = 5;

interface RefundsParts {
  readonly client: RedisClient;
  readonly live: LiveAccess;
  readonly book: Book;
  readonly drain: JournalDrain;
}

export class Refunds {
  readonly #parts: RefundsParts;

  constructor(parts: RefundsParts) {
    this.#parts = parts;
  }

  /**
   * Refunds a charge once; does nothing if there is none to refund. Rejects with LedgerUnavailable or BookUnavailable
   * if that can't be determined: retry.
   */
  async refund(accountId: number, chargeId: string): Promise<void> {
    if ((await this.#parts.book.charge(accountId, chargeId))?.isRefunded) return;
    let stale: Stale = {};
    for (let rebuilds = 0; rebuilds <= REFUND_REBUILDS; rebuilds++) {
      const epoch = await this.#parts.live.run(accountId, () =>
        this.#parts.client.hget(accountRedisKey(accountId), 'ep'),
      );
      if (epoch !== null) {
        const isOpen = await this.#parts.live.run(accountId, () =>
          this.#parts.client.hexists(holdsRedisKey(bucketOf(accountId)), chargeId),
        );
        const waiting = await this.#parts.live.run(accountId, () =>
          this.#parts.drain.undrained(bucketOf(accountId)),
        );
        // The book has every other charge, and every refund whose idempotency marker may be gone.
        const charge = await this.#parts.book.charge(accountId, chargeId);
        if (!charge && (isOpen || waiting.has(chargeId)))
          throw new LedgerUnavailable('the charge is not settled yet');
        if (!charge || charge.isRefunded || charge.entry.credits >= 0) return;
        const reply = await this.#parts.live.run(accountId, () => this.#apply(charge, epoch));
        if (reply === 'APPLIED') this.#parts.drain.markDirty(bucketOf(accountId));
        if (reply === 'APPLIED' || reply === 'DONE') return;
        if (reply === 'REBUILT') continue;
        if (reply === 'BEYOND')
          throw new LedgerUnavailable('the balance has no room for a refund until some of it is spent');
        stale = { keyId: charge.entry.keyId, personId: charge.personId };
      }
      await this.#parts.live.run(accountId, () => this.#parts.live.rebuild(accountId, stale));
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  async #apply(charge: Charge, epoch: string): Promise<PostedOnce['reply']> {
    const { reply } = await postOnce(this.#parts.client, draftOf(charge), {
      starts: periodsOfDay(charge.day),
      hours: charge.entry.hours ?? { key: 0, account: 0 },
      epoch,
    });
    return reply;
  }
}

function draftOf({ entry, personId }: Charge): EntryDraft {
  return {
    id: refundId(entry.id),
    type: 'refund',
    accountId: entry.accountId,
    keyId: entry.keyId,
    ...(personId !== null && { personId }),
    createdAt: Date.now(),
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    status: null,
    outcome: null,
    usage: {},
    estimated: false,
    credits: micro(-entry.credits),
    ...(entry.hours !== undefined && { hours: entry.hours }),
    ...(entry.upstream !== undefined && { upstream: entry.upstream }),
    // The provider does not bill a failed job, so sums return its cost along with its credits.
    ...(entry.cost !== undefined && { cost: micro(-entry.cost) }),
  };
}
