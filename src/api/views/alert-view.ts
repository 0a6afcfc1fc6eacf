import type { Alert, DeliveryStatus } from '../../book/book.ts';
import { creditsNumber } from '../../domain/credits.ts';
import { timestamp } from '../../domain/period.ts';

/** One POST of an alert to the webhook of one key. */
export interface DeliveryView {
  readonly key_id: number;
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Status of the receiver's answer; null where there was none. */
  readonly http_status: number | null;
  /** Milliseconds until the answer; null where they are not known. */
  readonly duration_ms: number | null;
  readonly attempted_at: string;
}

/** A low-credits alert, or a test of one (specification section 7). */
export interface AlertView {
  readonly id: number;
  readonly created_at: string;
  readonly credits_balance: number;
  readonly test: boolean;
  readonly deliveries: readonly DeliveryView[];
}

export interface AlertListView {
  readonly alerts: readonly AlertView[];
}

export function alertView(alert: Alert): AlertView {
  return {
    id: alert.id,
    created_at: timestamp(alert.createdAt),
    credits_balance: creditsNumber(alert.creditsBalance),
    test: alert.test,
    deliveries: alert.deliveries.map((delivery) => ({
      key_id: delivery.keyId,
      url: delivery.url,
      status: delivery.status,
      http_status: delivery.httpStatus,
      duration_ms: delivery.durationMs,
      attempted_at: timestamp(delivery.attemptedAt),
    })),
  };
}
