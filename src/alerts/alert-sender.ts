import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedAlert, PlannedDelivery } from '../book/alerts.ts';
import type { Book } from '../book/book.ts';
import type { DeliveryStatus } from '../book/schema.ts';
import { VERSION } from '../config/version.ts';
import { creditsNumber } from '../domain/credits.ts';
import type { Log } from '../log/log.ts';
import type { FairPool } from '../shares/fair-pool.ts';
import { ALERT_POSTS } from '../shares/pools.ts';
import { send, signatureHeaders } from './send.ts';

export interface AlertSenderOptions {
  readonly book: Pick<Book, 'plannedDeliveries' | 'finishDelivery'>;
  /** Longest time of one POST, in milliseconds, from resolving the name to the headers of the answer. */
  readonly timeoutMs: number;
  readonly allowPrivateNetworks: boolean;
  readonly log: Log;
  /** The POSTs under way at once, which accounts share. */
  readonly permits: FairPool;
  /** Called once for each POST that ended, with `unknown` for one that was given up at a stop. */
  readonly onOutcome?: (status: DeliveryStatus) => void;
}

type Outcome = Parameters<Book['finishDelivery']>[1];

/** Waits before each further try if the book does not answer. */
const RETRIES_MS = [100, 500, 2_000, 5_000, 10_000];

/**
 * Sender of claimed alerts: one POST for each delivery of an alert (specification section 6). Accounts share permits
 * (shares/fair-pool.ts), and of each account one alert at a time waits for them, so that an account with ten thousand
 * keys whose receivers do not answer delays its own alerts only. One page of an alert's deliveries is in memory at a
 * time.
 */
export class AlertSender {
  readonly #options: AlertSenderOptions;
  readonly #onRoom: () => void;
  readonly #giveUp = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  /** Accounts with an alert whose POSTs have not all begun. */
  readonly #unsent = new Set<number>();

  /** `onRoom` is called when `hasRoom` may have become true for some account. */
  constructor(options: AlertSenderOptions, onRoom: () => void) {
    this.#options = options;
    this.#onRoom = onRoom;
  }

  /** True if another alert of the account would be sent at once. */
  hasRoom(accountId: number): boolean {
    return !this.#unsent.has(accountId) && this.#options.permits.isFree(accountId);
  }

  begin(alert: ClaimedAlert): void {
    this.#unsent.add(alert.accountId);
    const sending = this.#sendAll(alert).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  /** Resolves once every alert that was handed over is sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** Ends every POST under way, so that nobody knows whether it arrived, and begins no other. Final. */
  giveUp(): void {
    this.#giveUp.abort();
  }

  async #sendAll(alert: ClaimedAlert): Promise<void> {
    const receivers = this.#receivers(alert);
    const lane = async () => {
      for (let next = await receivers.next(); !next.done; next = await receivers.next()) {
        await this.#deliver(alert, next.value);
      }
    };
    await Promise.all(Array.from({ length: ALERT_POSTS.ofOne }, lane));
  }

  /** The alert's deliveries, read page by page. The account has room for its next alert once the last one is taken. */
  async *#receivers(alert: ClaimedAlert): AsyncGenerator<PlannedDelivery, void> {
    let page = alert.deliveries;
    for (let last = page.at(-1); last; last = page.at(-1)) {
      yield* page;
      if (this.#giveUp.signal.aborted) break;
      page = (await this.#planned(alert, last.id)) ?? [];
    }
    this.#unsent.delete(alert.accountId);
    this.#onRoom();
  }

  #planned(alert: ClaimedAlert, after: number): Promise<PlannedDelivery[] | undefined> {
    const about = { alertId: alert.id, accountId: alert.accountId };
    const failed = 'the rest of an alert could not be read; it is not sent';
    return this.#untilDone(() => this.#options.book.plannedDeliveries(alert.id, after), about, failed);
  }

  async #deliver(alert: ClaimedAlert, receiver: PlannedDelivery): Promise<void> {
    const outcome = await this.#options.permits.run(alert.accountId, () => this.#post(alert, receiver));
    this.#onRoom();
    const { log, onOutcome } = this.#options;
    // The URL's path and query may hold the receiver's secret: the log gets the host alone.
    const about = { alertId: alert.id, keyId: receiver.keyId, host: URL.parse(receiver.url)?.host };
    onOutcome?.(outcome?.status ?? 'unknown');
    if (!outcome) return log.warn(about, 'alert given up: the gateway stops');
    if (outcome.status === 'delivered') log.info({ ...about, ...outcome }, 'alert delivered');
    else log.warn({ ...about, ...outcome }, 'alert not delivered');
    await this.#record(receiver.id, outcome, about);
  }

  /** Makes the only attempt of a delivery. Undefined if it was given up, and nobody knows whether it arrived. */
  async #post(alert: ClaimedAlert, receiver: PlannedDelivery): Promise<Outcome | undefined> {
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
    const failed = 'outcome of an alert could not be written';
    await this.#untilDone(() => this.#options.book.finishDelivery(deliveryId, outcome), about, failed);
  }

  /** Asks the book until it answers. Undefined if it did not after every retry; then `failed` is logged. */
  async #untilDone<T>(ask: () => Promise<T>, about: object, failed: string): Promise<T | undefined> {
    for (const delayMs of [...RETRIES_MS, undefined]) {
      try {
        return await ask();
      } catch (error) {
        if (delayMs === undefined || this.#giveUp.signal.aborted) {
          this.#options.log.error({ ...about, err: error }, failed);
          return undefined;
        }
        await sleep(delayMs, undefined, { signal: this.#giveUp.signal }).catch(() => {});
      }
    }
    return undefined;
  }
}

/**
 * Headers and body of a low-credits alert (specification section 6), signed for the time `at`, in milliseconds since
 * the epoch. A test alert has the body of a real one, and the header `webhook-test: true` besides.
 */
export function alertMessage(
  alert: ClaimedAlert,
  keyId: number,
  at: number,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({
    event: 'low_credits',
    user_email: alert.email,
    credits_balance: creditsNumber(alert.creditsBalance),
  });
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Tollgate/${VERSION}`,
    ...signatureHeaders(alert.webhookSecret, `msg_${alert.id}_${keyId}`, at, body),
    ...(alert.test ? { 'webhook-test': 'true' } : {}),
  };
  return { headers, body };
}
