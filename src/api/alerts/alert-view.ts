import type { Alert } from '../../book/book.ts';
import { creditsNumber } from '../../domain/credits.ts';
import { timestamp } from '../../domain/period.ts';
import type { AlertList, QueuedAlert } from '../account/account-schema.ts';
import type { Static } from '../openapi/json-type.ts';

export type AlertListView = Static<typeof AlertList>;
/** A low-credits alert, or a test of one (specification section 7). */
export type AlertView = AlertListView['alerts'][number];
/** The answer to the request for a test. */
export type QueuedAlertView = Static<typeof QueuedAlert>;
/** One POST of an alert to the webhook of one key. */
export type DeliveryView = AlertView['deliveries'][number];

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
