import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, ClaimedAlert, DeliveryStatus } from '../book/book.ts';
import type { Log } from '../log.ts';
import { alertMessage } from './alert-message.ts';
import { send } from './send.ts';
import { Slots } from './slots.ts';

export interface AlertWorkerOptions {
  readonly book: Pick<Book, 'queuedAlerts' | 'claimAlert' | 'finishDelivery'>;
  /** Of one POST, from resolving the name to the headers of the answer. */
  readonly timeoutMs: number;
  readonly allowPrivateNetworks: boolean;
  readonly log: Log;
  /** Most POSTs under way at once; one alert takes at most half of them. At least 2. */
  readonly concurrency: number;
  /** How often the book is asked unprompted: for alerts that other gateways posted, or died over. */
  readonly pollMs?: number;
  /** Called once for each POST that ended; `unknown`: given up by stop. */
  readonly onOutcome?: (status: DeliveryStatus) => void;
}

type Receiver = ClaimedAlert['deliveries'][number];
type Outcome = Parameters<Book['finishDelivery']>[1];

const POLL_MS = 5_000;
const FIRST_RETRY_MS = 250;
const LAST_PASS_MS = 1_000;
/** Waits before the tries that follow a failed write of an outcome. */
const RECORD_RETRIES_MS = [100, 500, 2_000, 5_000, 10_000];

/**
 * Sends the alerts that are queued in the book (contract section 6), outside the request path.
 *
 * The worker: idle → running (start) → stopped (stop; final). While it runs it is either asleep, its timer armed, or
 * in a pass: it claims one queued alert after the other until none is left. `notify` ends the sleep, or makes
 * another pass follow the one under way. A pass that fails (book out of reach) is tried again, at first after
 * FIRST_RETRY_MS, then half as often each time down to the poll.
 *
 * An alert: queued → claimed by one worker of all gateways, which writes its deliveries as `unknown` → one POST for
 * each → outcome written. Only the writing is ever repeated. A process that dies in between leaves `unknown`, and
 * since a claimed alert is not queued any more, nobody sends it again.
 */
export class AlertWorker {
  readonly #options: AlertWorkerOptions;
  readonly #slots: Slots;
  readonly #giveUp = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #state: 'idle' | 'running' | 'stopped' = 'idle';
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | undefined;
  #again = false;
  #failures = 0;

  constructor(options: AlertWorkerOptions) {
    this.#options = options;
    this.#slots = new Slots(options.concurrency);
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
    this.#giveUp.abort();
  }

  async #settled(): Promise<void> {
    await this.#pass;
    await Promise.all(this.#sending);
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
    for (;;) {
      let claimed = 0;
      for (const id of await this.#options.book.queuedAlerts(this.#options.concurrency)) {
        // Claimed only while a slot is free: what is claimed must be sent soon, for it dies with this process.
        const alert = await this.#slots.run(() => this.#claim(id));
        if (!alert) continue;
        claimed += 1;
        const sending = this.#sendAll(alert).finally(() => this.#sending.delete(sending));
        this.#sending.add(sending);
      }
      if (claimed === 0) return;
    }
  }

  async #claim(id: number): Promise<ClaimedAlert | undefined> {
    if (this.#state !== 'running') return undefined;
    return await this.#options.book.claimAlert(id, Date.now());
  }

  /** Half of the slots stay for other accounts' alerts, however many dead receivers one account has. */
  async #sendAll(alert: ClaimedAlert): Promise<void> {
    const waiting = [...alert.deliveries];
    const lane = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.#deliver(alert, next);
    };
    const lanes = Math.min(waiting.length, Math.floor(this.#options.concurrency / 2));
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async #deliver(alert: ClaimedAlert, receiver: Receiver): Promise<void> {
    const outcome = await this.#slots.run(() => this.#post(alert, receiver));
    const { log, onOutcome } = this.#options;
    // The URL's path and query may hold the receiver's secret: the log gets the host alone.
    const about = { alertId: alert.id, keyId: receiver.keyId, host: URL.parse(receiver.url)?.host };
    onOutcome?.(outcome?.status ?? 'unknown');
    if (!outcome) return log.warn(about, 'alert given up: the gateway stops');
    if (outcome.status === 'delivered') log.info({ ...about, ...outcome }, 'alert delivered');
    else log.warn({ ...about, ...outcome }, 'alert not delivered');
    await this.#record(receiver.id, outcome, about);
  }

  /** The one attempt. Undefined: given up, so that nobody knows whether it arrived. */
  async #post(alert: ClaimedAlert, receiver: Receiver): Promise<Outcome | undefined> {
    const { timeoutMs, allowPrivateNetworks } = this.#options;
    const signal = this.#giveUp.signal;
    const attemptedAt = Date.now();
    try {
      const message = alertMessage(alert, receiver.keyId, attemptedAt);
      const result = await send({ ...message, url: receiver.url, timeoutMs, allowPrivateNetworks, signal });
      return { ...result, attemptedAt };
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#options.log.error(
        { err: error, alertId: alert.id, keyId: receiver.keyId },
        'alert could not be made',
      );
      return { status: 'failed', httpStatus: null, durationMs: 0, attemptedAt };
    }
  }

  async #record(deliveryId: number, outcome: Outcome, about: object): Promise<void> {
    for (const delayMs of [...RECORD_RETRIES_MS, undefined]) {
      try {
        return await this.#options.book.finishDelivery(deliveryId, outcome);
      } catch (error) {
        if (delayMs === undefined || this.#giveUp.signal.aborted) {
          return this.#options.log.error(
            { ...about, err: error },
            'outcome of an alert could not be written',
          );
        }
        await sleep(delayMs, undefined, { signal: this.#giveUp.signal }).catch(() => {});
      }
    }
  }
}

/** Waits for the work to end, at most so long. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([work, limit]);
  ended.abort();
}
