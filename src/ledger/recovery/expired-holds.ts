import { periodStarts } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import { Failures } from '../../log/loop.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { draftText, parseHold, type StoredHold } from '../journal/entry-text.ts';
import type { RedisClient } from '../redis/connect.ts';
import { BUCKETS, holdsRedisKey, postingRedisKeys } from '../redis/redis-keys.ts';
import type { Rebuilder } from './rebuild.ts';
import type { UnansweredAdmissions } from './unanswered-admissions.ts';

const SCAN_COUNT = 500;

/** Number of open calls and the micro-credits they hold. */
export interface Holds {
  readonly count: number;
  /** Summed over all accounts, so it may be inexact. */
  readonly amount: number;
}

interface ExpiredHoldsParts {
  readonly client: RedisClient;
  readonly log: Log;
  readonly drain: JournalDrain;
  readonly rebuilder: Rebuilder;
  readonly unanswered: UnansweredAdmissions;
}

export class ExpiredHolds {
  readonly #parts: ExpiredHoldsParts;
  #live: Holds = { count: 0, amount: 0 };

  constructor(parts: ExpiredHoldsParts) {
    this.#parts = parts;
  }

  /** Unexpired holds of all gateways found by the last `release`. */
  get live(): Holds {
    return this.#live;
  }

  /**
   * Releases expired holds, each with a ledger entry of charge 0, and deletes expired markers. `nowIn`: ms since the
   * epoch by the clock of the bucket's node, which set the deadlines; undefined: unknown, so its holds stay. Continues
   * after failures and rejects at the end with all of them.
   */
  async release(nowIn: (bucket: number) => number | undefined): Promise<void> {
    const failures = new Failures();
    const found = { count: 0, amount: 0 };
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const now = nowIn(bucket) ?? Number.NEGATIVE_INFINITY;
      await failures.collect(this.#releaseIn(bucket, now, failures, found));
    }
    this.#live = found;
    failures.throwAny();
  }

  async #releaseIn(
    bucket: number,
    now: number,
    failures: Failures,
    found: { count: number; amount: number },
  ): Promise<void> {
    let cursor = '0';
    do {
      const [next, fields] = await this.#parts.client.hscan(
        holdsRedisKey(bucket),
        cursor,
        'COUNT',
        SCAN_COUNT,
      );
      cursor = next;
      const due = new Map<string, StoredHold>();
      for (let at = 0; at < fields.length; at += 2) {
        const hold = parseHold(fields[at + 1] as string);
        if (hold.deadline <= now) due.set(fields[at] as string, hold);
        else if (hold.amount !== undefined) {
          found.count++;
          found.amount += hold.amount;
        }
      }
      if (due.size > 0) await failures.collect(this.#releaseAll(bucket, due, now, failures));
    } while (cursor !== '0');
  }

  /**
   * A Redis that lost its last second may have a hold again whose charge is in the book. Such a hold gets no entry: the
   * book would refuse it as a repeat, and its seq, counted in Redis, would be missing in the book.
   *
   * An idempotency marker stays until the book has its entry: nothing else shows that it was applied.
   */
  async #releaseAll(
    bucket: number,
    due: ReadonlyMap<string, StoredHold>,
    now: number,
    failures: Failures,
  ): Promise<void> {
    const calls = [...due].filter(([, { amount }]) => amount !== undefined).map(([id]) => id);
    const charged =
      calls.length > 0 ? await this.#parts.drain.entriesAmong(bucket, calls) : new Set<string>();
    const journalled =
      calls.length < due.size ? await this.#parts.drain.undrained(bucket) : new Set<string>();
    for (const [id, hold] of due) {
      if (hold.amount === undefined && journalled.has(id)) continue;
      const { accountId = bucket, keyId = 0, personId = null } = hold;
      await failures.collect(
        charged.has(id)
          ? this.#parts.unanswered.cancelOne({ requestId: id, accountId, keyId, personId }, 'charged')
          : this.#expire(bucket, id, hold, now),
      );
    }
  }

  async #expire(bucket: number, requestId: string, hold: StoredHold, now: number): Promise<void> {
    const accountId = hold.accountId ?? bucket;
    const starts = periodStarts(now);
    const keys = postingRedisKeys(accountId, hold.keyId ?? 0, hold.personId);
    const reply = await this.#parts.client.expire(
      keys.length,
      ...keys,
      requestId,
      now,
      starts.day,
      starts.week,
      starts.month,
      hold.draft ? draftText(hold.draft(now, requestId)) : '',
    );
    if (reply === 'EXPIRED') {
      this.#parts.log.warn(
        { reqId: requestId, accountId },
        'released the hold of a call whose gateway ended before it did',
      );
      this.#parts.drain.markDirty(bucket);
    } else if (reply === 'MISSING') {
      await this.#parts.rebuilder.rebuild(accountId, hold);
    }
  }
}
