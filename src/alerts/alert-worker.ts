import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, ClaimedAlert } from '../book/book.ts';
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
 * States of the worker: idle → running (start) → stopped (stop; final). While it runs it is either asleep, its timer
 * armed, or in a pass. A pass claims the next alert of each account, again and again, until no account that the sender
 * has room for has one. `notify` ends the sleep, or makes another pass follow the one under way; so does room for an
 * account that a pass left waiting. One account's alerts never wait for another's (AlertSender). A pass that fails,
 * because the book is out of reach, is tried again: first after FIRST_RETRY_MS, then after twice as long each time, up
 * to the poll interval. (The worker is no `Loop`, because a Loop retries later than its interval, and not at all when
 * it is woken.)
 *
 * States of an alert: queued → claimed by one worker of all gateways, which writes its deliveries as `unknown` → one
 * POST for each → outcome written. Only the writing is ever repeated. A process that dies in between leaves `unknown`,
 * and nobody sends the alert again, because a claimed alert is not queued any more.
 */
export class AlertWorker {
  readonly #options: AlertWorkerOptions;
  readonly #sender: AlertSender;
  /** Accounts that have an alert in the book, and had no room in the sender when a pass looked. */
  readonly #left = new Set<number>();
  #state: 'idle' | 'running' | 'stopped' = 'idle';
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | undefined;
  #again = false;
  #failures = 0;

  constructor(options: AlertWorkerOptions) {
    this.#options = options;
    this.#sender = new AlertSender(options, () => this.#roomMade());
  }

  start(): void {
    this.#state = 'running';
    this.notify();
  }

  /** Starts a pass now, because an alert may have been queued. Cheap, and harmless at any time. */
  notify(): void {
    if (this.#state !== 'running') return;
    if (this.#pass) this.#again = true;
    else this.#beginPass();
  }

  /**
   * Stops the worker. The pass under way may claim for LAST_PASS_MS more, because alerts that were queued just before
   * the stop would otherwise wait for the next start. Claimed alerts have `deadlineMs` to be sent; the rest is given up
   * as `unknown`.
   */
  async stop(deadlineMs: number): Promise<void> {
    const until = performance.now() + LAST_PASS_MS;
    for (let left = LAST_PASS_MS; this.#pass && left > 0; left = until - performance.now()) {
      await within(left, this.#pass);
    }
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    await within(deadlineMs, this.#settled());
    this.#sender.giveUp();
  }

  async #settled(): Promise<void> {
    await this.#pass;
    await this.#sender.idle();
  }

  #beginPass(): void {
    clearTimeout(this.#timer);
    this.#again = false;
    this.#pass = this.#claimQueued()
      .then(
        () => {
          this.#failures = 0;
        },
        (error: unknown) => {
          // The first failure says what is wrong; its repeats would only fill the log.
          if (this.#failures === 0)
            this.#options.log.warn({ err: error }, 'alerts wait: the book cannot be read');
          this.#failures += 1;
        },
      )
      .then(() => this.#endPass());
  }

  #endPass(): void {
    this.#pass = undefined;
    if (this.#state !== 'running') return;
    if (this.#again) {
      this.#beginPass();
      return;
    }
    const pollMs = this.#options.pollMs ?? POLL_MS;
    const retryMs = FIRST_RETRY_MS * 2 ** (this.#failures - 1);
    this.#timer = setTimeout(
      () => this.#beginPass(),
      this.#failures > 0 ? Math.min(retryMs, pollMs) : pollMs,
    );
    this.#timer.unref();
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
      if (this.#state !== 'running') return;
    }
  }

  #roomMade(): void {
    for (const accountId of this.#left) if (this.#sender.hasRoom(accountId)) this.notify();
  }

  async #claim(id: number): Promise<ClaimedAlert | undefined> {
    if (this.#state !== 'running') return undefined;
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
