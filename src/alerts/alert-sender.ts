import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedAlert, PlannedDelivery } from '../book/alerts.ts';
import type { Book } from '../book/book.ts';
import type { DeliveryStatus } from '../book/schema.ts';
import { VERSION } from '../config/version.ts';
import { type AddressMatcher, compileRanges } from '../domain/addresses.ts';
import { creditsNumber } from '../domain/credits.ts';
import type { Log } from '../log/log.ts';
import type { FairPool } from '../shares/fair-pool.ts';
import { ALERT_POSTS } from '../shares/pools.ts';
import { send, signatureHeaders } from './send.ts';

export interface AlertSenderOptions {
  readonly book: Pick<Book, 'plannedDeliveries' | 'finishDelivery'>;
  /** Time limit for one POST, in milliseconds, from name resolution to the headers of the answer. */
  readonly timeoutMs: number;
  readonly allowPrivateNetworks: boolean;
  /** Addresses and CIDR ranges of receivers that are allowed although they are not public. Default: none. */
  readonly allow?: readonly string[];
  readonly log: Log;
  /** Concurrent POSTs, shared by all accounts. */
  readonly permits: FairPool;
  /** Called once for each POST that ended; `unknown` means that a stop cut it off. */
  readonly onOutcome?: (status: DeliveryStatus) => void;
}

type Outcome = Parameters<Book['finishDelivery']>[1];

/** Waits before each retry if the book does not answer. */
const RETRIES_MS = [100, 500, 2_000, 5_000, 10_000];

/**
 * Sends claimed alerts: one POST for each delivery of an alert (specification section 6). Accounts share permits
 * (shares/fair-pool.ts), and only one alert of each account waits for them at a time. So an account with ten thousand
 * keys whose receivers do not answer delays only its own alerts. Memory holds one page of an alert's deliveries.
 */
export class AlertSender {
  readonly #options: AlertSenderOptions;
  readonly #allow: AddressMatcher | undefined;
  readonly #onRoom: () => void;
  readonly #giveUp = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  /** Accounts that have an alert with POSTs not yet begun. */
  readonly #unsent = new Set<number>();

  /** `onRoom` is called when `hasRoom` may have become true for some account. */
  constructor(options: AlertSenderOptions, onRoom: () => void) {
    this.#options = options;
    this.#allow = options.allow?.length ? compileRanges(options.allow) : undefined;
    this.#onRoom = onRoom;
  }

  /** True if the account's next alert can start immediately. */
  hasRoom(accountId: number): boolean {
    return !this.#unsent.has(accountId) && this.#options.permits.isFree(accountId);
  }

  begin(alert: ClaimedAlert): void {
    this.#unsent.add(alert.accountId);
    const sending = this.#sendAll(alert).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  /** Resolves when every alert passed to `begin` has been sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** Aborts every POST under way, which leaves its outcome unknown, and begins no other. Final. */
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

  /** Reads the alert's deliveries page by page. After the last one, the account has room for its next alert. */
  async *#receivers(alert: ClaimedAlert): AsyncGenerator<PlannedDelivery, void> {
    let page = alert.deliveries;
    for (let last = page.at(-1); last; last = page.at(-1)) {
      yield* page;
      if (this.#giveUp.signal.aborted) break;
      const { id } = last;
      const about = { alertId: alert.id, accountId: alert.accountId };
      const failed = 'failed to read the rest of an alert; it is not sent';
      page =
        (await this.#untilDone(() => this.#options.book.plannedDeliveries(alert.id, id), about, failed)) ??
        [];
    }
    this.#unsent.delete(alert.accountId);
    this.#onRoom();
  }

  async #deliver(alert: ClaimedAlert, receiver: PlannedDelivery): Promise<void> {
    const outcome = await this.#options.permits.run(alert.accountId, () => this.#post(alert, receiver));
    this.#onRoom();
    const { book, log, onOutcome } = this.#options;
    // Only the host, because the URL's path and query may hold the receiver's secret.
    const about = { alertId: alert.id, keyId: receiver.keyId, host: URL.parse(receiver.url)?.host };
    onOutcome?.(outcome?.status ?? 'unknown');
    if (!outcome) return log.warn(about, 'alert given up: the gateway stops');
    if (outcome.status === 'delivered') log.info({ ...about, ...outcome }, 'alert delivered');
    else log.warn({ ...about, ...outcome }, 'alert not delivered');
    const failed = 'failed to record the outcome of an alert';
    await this.#untilDone(() => book.finishDelivery(receiver.id, outcome), about, failed);
  }

  /** Makes the only attempt at a delivery. Undefined if a stop cut it off and its outcome is unknown. */
  async #post(alert: ClaimedAlert, receiver: PlannedDelivery): Promise<Outcome | undefined> {
    const { timeoutMs, allowPrivateNetworks } = this.#options;
    const signal = this.#giveUp.signal;
    const attemptedAt = Date.now();
    try {
      const message = alertMessage(alert, receiver.keyId, attemptedAt);
      const guard = { allowPrivateNetworks, allow: this.#allow };
      const result = await send({ ...message, url: receiver.url, timeoutMs, ...guard, signal });
      return { ...result, attemptedAt };
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#options.log.error(
        { err: error, alertId: alert.id, keyId: receiver.keyId },
        'failed to create an alert',
      );
      return { status: 'failed', httpStatus: null, error: 'protocol', durationMs: 0, attemptedAt };
    }
  }

  /** Retries `ask` until the book answers. If the last retry fails too, logs `failed` and returns undefined. */
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
 * the epoch. A test alert differs only by the header `webhook-test: true`.
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
