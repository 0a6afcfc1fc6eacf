import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedAlert } from '../book/alerts.ts';
import type { Book } from '../book/book.ts';
import { Loop } from '../log/loop.ts';
import { AlertSender, type AlertSenderOptions } from './alert-sender.ts';

export interface AlertWorkerOptions extends AlertSenderOptions {
  readonly book: AlertSenderOptions['book'] & Pick<Book, 'dueAlerts' | 'claimAlert'>;
  /** Milliseconds between two passes, which also find alerts that other gateways queued and did not claim. */
  readonly pollMs?: number;
}

const POLL_MS = 5_000;
const FIRST_RETRY_MS = 250;
const LAST_PASS_MS = 1_000;
/** Most accounts whose next alert a pass asks the book for in one query. */
const ACCOUNTS_AT_ONCE = 100;

/**
 * Background worker that claims the alerts queued in the book and has them sent (specification section 6).
 *
 * A pass claims the next alert of each account, again and again, until no account that the sender has room for has one.
 * `notify` starts a pass, or makes another one follow; so does room for an account that a pass left waiting. One
 * account's alerts never wait for another's (AlertSender). A pass that fails, because the book is out of reach, is tried
 * again soon, and a `notify` meanwhile waits for that.
 *
 * States of an alert: queued → claimed by one worker of all gateways, which writes its deliveries as `unknown` → one
 * POST for each → outcome written. Only the writing is ever repeated. A process that dies in between leaves `unknown`,
 * and nobody sends the alert again, because a claimed alert is not queued any more.
 */
export class AlertWorker {
  readonly #options: AlertWorkerOptions;
  readonly #sender: AlertSender;
  readonly #passes: Loop;
  /** Accounts that have an alert in the book, and had no room in the sender when a pass looked. */
  readonly #left = new Set<number>();
  #isStopped = false;

  constructor(options: AlertWorkerOptions) {
    const { log, pollMs = POLL_MS } = options;
    this.#options = options;
    this.#sender = new AlertSender(options, () => this.#roomMade());
    this.#passes = new Loop('claiming alerts', pollMs, () => this.#claimQueued(), log, {
      firstMs: FIRST_RETRY_MS,
      longestMs: pollMs,
    });
  }

  start(): void {
    this.#passes.start();
    this.notify();
  }

  /** Starts a pass now, because an alert may have been queued. Cheap, and harmless at any time. */
  notify(): void {
    this.#passes.wake();
  }

  /**
   * Stops the worker. The pass under way may claim for LAST_PASS_MS more, because alerts that were queued just before
   * the stop would otherwise wait for the next start. Claimed alerts have `deadlineMs` to be sent; the rest is given up
   * as `unknown`.
   */
  async stop(deadlineMs: number): Promise<void> {
    await within(LAST_PASS_MS, this.#passes.idle());
    this.#isStopped = true;
    await within(
      deadlineMs,
      this.#passes.stop().then(() => this.#sender.idle()),
    );
    this.#sender.giveUp();
  }

  async #claimQueued(): Promise<void> {
    this.#left.clear();
    for (;;) {
      const due = await this.#options.book.dueAlerts([...this.#left], ACCOUNTS_AT_ONCE);
      if (due.length === 0) return;
      for (const { id, accountId } of due) {
        // An alert is claimed only if it can be sent soon, because a claimed alert is lost with this process.
        if (!this.#sender.hasRoom(accountId)) this.#left.add(accountId);
        else {
          const alert = await this.#claim(id);
          if (alert) this.#sender.begin(alert);
        }
      }
      if (this.#isStopped) return;
    }
  }

  #roomMade(): void {
    for (const accountId of this.#left) if (this.#sender.hasRoom(accountId)) this.notify();
  }

  async #claim(id: number): Promise<ClaimedAlert | undefined> {
    if (this.#isStopped) return undefined;
    return await this.#options.book.claimAlert(id, Date.now());
  }
}

/** Resolves when the work has ended, or after `limitMs`. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([work, limit]);
  ended.abort();
}
