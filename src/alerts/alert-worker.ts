import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../book/book.ts';
import { Loop } from '../log/loop.ts';
import { AlertSender, type AlertSenderOptions } from './alert-sender.ts';

export interface AlertWorkerOptions extends AlertSenderOptions {
  readonly book: AlertSenderOptions['book'] & Pick<Book, 'dueAlerts' | 'claimAlert'>;
  /** Milliseconds between two passes. They also find alerts that other gateways queued but did not claim. */
  readonly pollMs?: number;
}

const POLL_MS = 5_000;
const FIRST_RETRY_MS = 250;
const LAST_PASS_MS = 1_000;
/** Limit of one query for the next alerts of accounts. */
const ACCOUNTS_AT_ONCE = 100;

/**
 * Background worker that claims the alerts queued in the book and sends them (specification section 6).
 *
 * A pass claims the next alert of each account until no account with room in the sender has another. `notify`, or new
 * room for an account that a pass left waiting, starts a pass or schedules another. One account's alerts never wait for
 * another's (AlertSender). If a pass fails because the book is out of reach, it is retried soon; `notify` does not
 * shorten that wait.
 *
 * States of an alert: queued → claimed by one worker of all gateways, which writes its deliveries as `unknown` → one
 * POST for each → outcome written. Only the writing is ever repeated. If the process dies in between, the outcome stays
 * `unknown` and nobody sends the alert again, because a claimed alert has left the queue.
 */
export class AlertWorker {
  readonly #options: AlertWorkerOptions;
  readonly #sender: AlertSender;
  readonly #passes: Loop;
  /** Accounts with a queued alert that had no room in the sender during the last pass. */
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

  /** Starts a pass, because an alert may have been queued. Cheap and safe at any time. */
  notify(): void {
    this.#passes.wake();
  }

  /**
   * Stops the worker. The current pass may claim for LAST_PASS_MS more; otherwise alerts queued just before the stop
   * would wait for the next start. Claimed alerts have `deadlineMs` to be sent; the rest stay `unknown`.
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
    const { book } = this.#options;
    while (!this.#isStopped) {
      const due = await book.dueAlerts([...this.#left], ACCOUNTS_AT_ONCE);
      if (due.length === 0) return;
      for (const { id, accountId } of due) {
        if (this.#isStopped) return;
        // Claims only an alert that can be sent soon, because a claimed alert is lost with this process.
        if (!this.#sender.hasRoom(accountId)) this.#left.add(accountId);
        else {
          const alert = await book.claimAlert(id, Date.now());
          if (alert) this.#sender.begin(alert);
        }
      }
    }
  }

  #roomMade(): void {
    for (const accountId of this.#left) if (this.#sender.hasRoom(accountId)) this.notify();
  }
}

/** Resolves when the work ends, or after `limitMs`. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([work, limit]);
  ended.abort();
}
