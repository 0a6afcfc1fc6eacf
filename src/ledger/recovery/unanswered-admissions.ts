import { Failures } from '../../log/loop.ts';
import type { HoldId } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  keyRedisKey,
  memberRedisKeys,
} from '../redis/redis-keys.ts';
import type { Rebuilder } from './rebuild.ts';

/** Concurrent cancels; sequentially, a slow Redis would take minutes for the calls of one second of outage. */
const MAX_CONCURRENT = 200;
/** Maximum admissions in either state; beyond it, holds are released at their deadline. */
const MAX = 10_000;
/** Delay of the second cancel if the admission was answered. */
const SECOND_CANCEL_MS = 4_000;
/**
 * Delay of the second cancel after an unanswered admission was sent: 5 s within which Redis may execute it, and 3 s by
 * which Redis' clock may have been set back. So holds are released within the 10 s of specification section 5.
 */
const SECOND_CANCEL_AFTER_SENT_MS = 8_000;
/** Minimum delay between the two cancels; a replica that takes over may lack later writes. */
const MIN_SECOND_CANCEL_MS = 2_000;

/** Why a hold is released: the call never went to the provider, or its charge is in the journal or book. */
type CancelReason = 'not sent' | 'charged';

interface ToCancel extends HoldId {
  readonly reason: CancelReason;
  /** When its admission was sent, by performance.now(); undefined: it was answered. */
  readonly sentAt: number | undefined;
}

interface UnansweredAdmissionsParts {
  readonly client: RedisClient;
  readonly rebuilder: Rebuilder;
}

export class UnansweredAdmissions {
  readonly #parts: UnansweredAdmissionsParts;
  readonly #unanswered = new Map<string, ToCancel>();
  /** Cancelled admissions and when their second cancel is due. */
  readonly #cancelled = new Map<string, { readonly call: ToCancel; readonly againAt: number }>();

  constructor(parts: UnansweredAdmissionsParts) {
    this.#parts = parts;
  }

  /** Number of admissions with a first or second cancel due. */
  get count(): number {
    return this.#unanswered.size + this.#cancelled.size;
  }

  /**
   * Schedules the release of a hold that nothing will settle; Redis may not have it. `reason`: see `cancelOne`;
   * `sentAt`: when an unanswered admission was sent, by performance.now().
   */
  add(
    { requestId, accountId, keyId, personId }: HoldId,
    reason: CancelReason = 'not sent',
    sentAt?: number,
  ): void {
    if (this.#unanswered.size < MAX)
      this.#unanswered.set(requestId, { requestId, accountId, keyId, personId, reason, sentAt });
  }

  /** Returns what an admission took, now or once Redis answers. */
  cancelNow(call: HoldId): void {
    this.add(call);
    // The sweep cancels it again, so this one may fail.
    this.cancelOne(call, 'not sent').catch(() => undefined);
  }

  /**
   * Sends first cancels, and second ones due at `now` (ms since the epoch). Rejects if Redis did not answer some; the
   * next call retries those.
   */
  async cancel(now: number): Promise<void> {
    const due = [...this.#unanswered.values()];
    for (const { call, againAt } of this.#cancelled.values()) if (againAt <= now) due.push(call);
    const failures = new Failures();
    for (let at = 0; at < due.length; at += MAX_CONCURRENT) {
      await Promise.all(
        due.slice(at, at + MAX_CONCURRENT).map((call) => failures.collect(this.#cancelDue(call))),
      );
    }
    failures.throwAny();
  }

  async #cancelDue(call: ToCancel): Promise<void> {
    if (!(await this.cancelOne(call, call.reason))) return;
    const { requestId } = call;
    this.#cancelled.delete(requestId);
    if (this.#unanswered.delete(requestId) && this.#cancelled.size < MAX) {
      this.#cancelled.set(requestId, { call, againAt: Date.now() + secondCancelInMs(call) });
    }
  }

  /**
   * Cancels one call now. One that ran keeps its share of the limits; one that was not sent returns it. False: its
   * account was rebuilt, so retry.
   */
  async cancelOne({ requestId, accountId, keyId, personId }: HoldId, reason: CancelReason): Promise<boolean> {
    const keys = [
      accountRedisKey(accountId),
      keyRedisKey(accountId, keyId),
      holdsRedisKey(bucketOf(accountId)),
      ...memberRedisKeys(accountId, personId),
    ];
    const reply = await this.#parts.client.cancel(
      keys.length,
      ...keys,
      requestId,
      reason === 'not sent' ? 0 : 1,
    );
    if (reply !== 'MISSING') return true;
    await this.#parts.rebuilder.rebuild(accountId, { keyId, personId });
    return false;
  }
}

function secondCancelInMs({ sentAt }: ToCancel): number {
  if (sentAt === undefined) return SECOND_CANCEL_MS;
  return Math.max(MIN_SECOND_CANCEL_MS, sentAt + SECOND_CANCEL_AFTER_SENT_MS - performance.now());
}
