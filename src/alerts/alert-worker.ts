import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, ClaimedAlert } from '../book/book.ts';
import { AlertSender, type AlertSenderOptions } from './alert-sender.ts';

export interface AlertWorkerOptions extends AlertSenderOptions {
  readonly book: AlertSenderOptions['book'] & Pick<Book, 'dueAlerts' | 'claimAlert'>;
  /** How often the book is asked unprompted: for alerts that other gateways posted, or died over. */
  readonly pollMs?: number;
}

const POLL_MS = 5_000;
const FIRST_RETRY_MS = 250;
const LAST_PASS_MS = 1_000;
/** Accounts of which a pass asks for an alert at once. */
const ACCOUNTS_AT_ONCE = 100;

/**
 * Sends the alerts that are queued in the book (specification section 6), outside the request path.
 *
 * The worker: idle → running (start) → stopped (stop; final). While it runs it is either asleep, its timer armed, or
 * in a pass: it claims the next alert of each account, again and again, until none is left of an account that the sender has
 * room for. `notify` ends the sleep, or makes another pass follow the one under way; so does room for an account that a
 * pass left waiting. One account's alerts never wait for another's: AlertSender says how. A pass that fails (book out of reach) is tried again, at first after
 * FIRST_RETRY_MS, then half as often each time down to the poll.
 *
 * An alert: queued → claimed by one worker of all gateways, which writes its deliveries as `unknown` → one POST for
 * each → outcome written. Only the writing is ever repeated. A process that dies in between leaves `unknown`, and
 * since a claimed alert is not queued any more, nobody sends it again.
 */
export class AlertWorker {
  readonly #options: AlertWorkerOptions;
  readonly #sender: AlertSender;
  /** Accounts with an alert in the book that the sender had no room for. */
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

  /** Says that an alert may have been queued just now. Cheap, and harmless at any time. */
  notify(): void {
    if (this.#state !== 'running') return;
    if (this.#pass) this.#again = true;
    else this.#beginPass();
  }

  /**
   * Lets the pass under way claim for LAST_PASS_MS more, as what was queued just before would wait for the next start;
   * then waits at most `deadlineMs` for what is claimed to be sent, and gives up the rest as `unknown`.
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
        // Claimed only where it can be sent soon: what is claimed dies with this process.
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

/** Waits for the work to end, at most so long. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([work, limit]);
  ended.abort();
}
