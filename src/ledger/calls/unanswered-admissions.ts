import { Failures } from '../failures.ts';
import type { HeldCall, Stale } from '../ledger.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountName, bucketOf, holdsName, keyName } from '../redis/redis-keys.ts';

/** A bar outlives any admission still on its way: a TCP connection that is cut delivers nothing after this. */
const BAR_MS = 10 * 60_000;
/** Cancels sent together; one after the other, a slow Redis would take minutes over what a second of outage left. */
const AT_ONCE = 200;
/** Remembered at most, of either kind; beyond it holds are released at their deadline instead. */
const MAX = 10_000;
/** Longer than an admission that was given up is on its way; with it, what holds is released within 10 s (specification section 5). */
const AGAIN_MS = 4_000;

/**
 * Admissions that nobody answers for any more: whether Redis has one, has it later or never, nothing of it is to be left.
 * States of one: lost → (lua/cancel.lua: released, and barred) → barred → (AGAIN_MS later, once more) forgotten.
 *
 * The second time is for a Redis that lost what the first one did: emptied, it had no bar when the admission came late;
 * and a replica that took over had the hold, but not its release. Such a hold kept its credits until its deadline.
 */
export class LostAdmissions {
  readonly #client: RedisClient;
  readonly #clock: RedisClock;
  readonly #rebuild: (accountId: number, stale?: Stale) => Promise<void>;
  readonly #lost = new Map<string, HeldCall>();
  /** In the order in which they are due. */
  readonly #barred = new Map<string, { readonly call: HeldCall; readonly againAt: number }>();

  constructor(
    client: RedisClient,
    clock: RedisClock,
    rebuild: (accountId: number, stale?: Stale) => Promise<void>,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#rebuild = rebuild;
  }

  add({ requestId, accountId, keyId }: HeldCall): void {
    if (this.#lost.size < MAX) this.#lost.set(requestId, { requestId, accountId, keyId });
  }

  /** Cancels what is lost, and what is due again. `now`: ms since the epoch. Rejects where Redis did not answer for some, to be called again. */
  async cancel(now: number): Promise<void> {
    const due = [...this.#lost.values()];
    for (const { call, againAt } of this.#barred.values()) {
      if (againAt > now) break;
      due.push(call);
    }
    const failures = new Failures();
    for (let at = 0; at < due.length; at += AT_ONCE) {
      await Promise.all(due.slice(at, at + AT_ONCE).map((call) => failures.note(this.#cancelDue(call))));
    }
    failures.throwFirst();
  }

  async #cancelDue(call: HeldCall): Promise<void> {
    if (!(await this.cancelOne(call))) return;
    const { requestId } = call;
    this.#barred.delete(requestId);
    if (this.#lost.delete(requestId) && this.#barred.size < MAX) {
      this.#barred.set(requestId, { call, againAt: Date.now() + AGAIN_MS });
    }
  }

  /** At once. False: it must be tried again. */
  async cancelOne({ requestId, accountId, keyId }: HeldCall): Promise<boolean> {
    const reply = await this.#client.cancel(
      accountName(accountId),
      keyName(accountId, keyId),
      holdsName(bucketOf(accountId)),
      requestId,
      this.#clock.now() + BAR_MS,
    );
    if (reply !== 'MISSING') return true;
    await this.#rebuild(accountId, { keyId });
    return false;
  }
}
