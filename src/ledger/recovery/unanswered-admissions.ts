import { Failures } from '../../log/loop.ts';
import type { HoldId } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountRedisKey, bucketOf, holdsRedisKey, keyRedisKey } from '../redis/redis-keys.ts';
import type { Rebuilder } from './rebuild.ts';

/** Cancels sent together; one after the other, a slow Redis would take minutes for the rest of a second's outage. */
const AT_ONCE = 200;
/** Admissions remembered at most in either state; beyond it holds are released at their deadline instead. */
const MAX = 10_000;
/** Time between the first cancel and the second, if the admission was answered. */
const AGAIN_MS = 4_000;
/**
 * Time from the sending of an admission until its second cancel: the 5 s within which Redis may execute it, and 3 s by which the
 * clock of Redis may have been set back meanwhile. With it, holds are released within the 10 s of specification section 5.
 */
const AGAIN_AFTER_SENT_MS = 8_000;
/** Least time between the two; a replica that takes over may lack later writes. */
const AGAIN_LEAST_MS = 2_000;

/**
 * What became of a call whose hold is to be released: it never went to the provider, its charge is in the journal or the book, or
 * it was a read of a job, which has no charge.
 */
type CancelReason = 'not sent' | 'charged' | 'read';

interface ToCancel extends HoldId {
  readonly reason: CancelReason;
  /** When its admission was sent, by performance.now(); undefined: the admission was answered. */
  readonly sentAt: number | undefined;
}

interface UnansweredAdmissionsParts {
  readonly client: RedisClient;
  readonly rebuilder: Rebuilder;
}

export class UnansweredAdmissions {
  readonly #parts: UnansweredAdmissionsParts;
  readonly #unanswered = new Map<string, ToCancel>();
  /** Cancelled admissions, and when their second cancel is due. */
  readonly #cancelled = new Map<string, { readonly call: ToCancel; readonly againAt: number }>();

  constructor(parts: UnansweredAdmissionsParts) {
    this.#parts = parts;
  }

  /** Number of admissions that are to be cancelled, once or once more. */
  get count(): number {
    return this.#unanswered.size + this.#cancelled.size;
  }

  /**
   * Has the hold of a call released soon that nothing will settle any more; whether Redis has a hold of it is not
   * known. `reason`: see `cancelOne`; `sentAt`: when its admission was sent, by performance.now(), if that was not answered.
   */
  add({ requestId, accountId, keyId }: HoldId, reason: CancelReason = 'not sent', sentAt?: number): void {
    if (this.#unanswered.size < MAX)
      this.#unanswered.set(requestId, { requestId, accountId, keyId, reason, sentAt });
  }

  /** Releases what an admission took, now or once Redis answers. */
  cancelNow(call: HoldId): void {
    this.add(call);
    // The sweep cancels it again, whatever becomes of this one.
    this.cancelOne(call, 'not sent').catch(() => undefined);
  }

  /**
   * Releases the hold of a read that has ended, once; it is kept until Redis has answered. Not a second time, as for others:
   * jobs are polled by the thousand, and a hold that comes back with a replica ends at its deadline.
   */
  async endRead(call: HoldId): Promise<void> {
    this.add(call, 'read');
    if (await this.cancelOne(call, 'read')) this.#unanswered.delete(call.requestId);
  }

  /**
   * Cancels what is unanswered, and what is due again at `now` (ms since the epoch). Rejects if Redis did not answer for
   * some; the next call tries those again.
   */
  async cancel(now: number): Promise<void> {
    const due = [...this.#unanswered.values()];
    for (const { call, againAt } of this.#cancelled.values()) if (againAt <= now) due.push(call);
    const failures = new Failures();
    for (let at = 0; at < due.length; at += AT_ONCE) {
      await Promise.all(due.slice(at, at + AT_ONCE).map((call) => failures.collect(this.#cancelDue(call))));
    }
    failures.throwAny();
  }

  async #cancelDue(call: ToCancel): Promise<void> {
    if (!(await this.cancelOne(call, call.reason))) return;
    const { requestId } = call;
    this.#cancelled.delete(requestId);
    if (this.#unanswered.delete(requestId) && this.#cancelled.size < MAX) {
      this.#cancelled.set(requestId, { call, againAt: Date.now() + againInMs(call) });
    }
  }

  /**
   * Cancels one call now. One that ran keeps its share of the limits; one that was not sent gives it back.
   * False: its account was rebuilt, and it must be tried again.
   */
  async cancelOne({ requestId, accountId, keyId }: HoldId, reason: CancelReason): Promise<boolean> {
    const reply = await this.#parts.client.cancel(
      accountRedisKey(accountId),
      keyRedisKey(accountId, keyId),
      holdsRedisKey(bucketOf(accountId)),
      requestId,
      reason === 'not sent' ? 0 : 1,
    );
    if (reply !== 'MISSING') return true;
    await this.#parts.rebuilder.rebuild(accountId, { keyId });
    return false;
  }
}

function againInMs({ sentAt }: ToCancel): number {
  if (sentAt === undefined) return AGAIN_MS;
  return Math.max(AGAIN_LEAST_MS, sentAt + AGAIN_AFTER_SENT_MS - performance.now());
}
