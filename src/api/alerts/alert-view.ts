import type { Alert, Delivery, Receiver as ReceivingKey } from '../../book/alerts.ts';
import { DELIVERY_ERRORS, DELIVERY_STATUSES } from '../../book/schema.ts';
import { creditsNumber, MAX_CREDITS } from '../../domain/credits.ts';
import { timestamp } from '../../domain/period.ts';
import { optional, section } from '../../domain/shape.ts';
import { DEFAULT_PAGE_LIMIT, id, orNull, PAGE_LIMIT, time, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const DeliverySchema = Type.Object(
  {
    key_id: id('Key whose `webhook_url` this is.'),
    url: Type.String({ description: 'Address of the receiver.' }),
    status: words(
      DELIVERY_STATUSES,
      '`delivered`: a 2xx answer. `failed`: another status, or no connection. `timeout`: no answer within 10 s. `blocked`: ' +
        'not a public address. `unknown`: no answer yet, or the gateway died while sending.',
    ),
    http_status: orNull(Type.Integer(), 'Status of the answer; null: no answer.'),
    error: orNull(
      Type.Enum(DELIVERY_ERRORS),
      'Why it was not delivered. `http_status`: the answer was no 2xx. null: it was delivered, or its outcome is unknown.',
    ),
    duration_ms: orNull(
      Type.Number({ minimum: 0 }),
      'Milliseconds from name resolution to the headers of the answer; null: unknown.',
    ),
    attempted_at: time('Time of sending.'),
  },
  { title: 'Delivery', description: 'One POST to the webhook of one key.' },
);

const Receiver = Type.Object(
  {
    key_id: id('Key that has the webhook.'),
    key_name: Type.String({ description: 'Name of the key.' }),
    url: Type.String({ description: 'Its `webhook_url`.' }),
    last: orNull(
      DeliverySchema,
      'The latest delivery to the address, by any key; null: none among the newest alerts.',
    ),
  },
  { title: 'Receiver', description: 'A key whose webhook gets the next alert.' },
);

/** Most receivers in a list; an account can have ten thousand. */
export const MOST_RECEIVERS = 200;

export const AlertList = Type.Object(
  {
    receivers: Type.Array(Receiver, {
      description: `Active keys with a webhook, by id: at most ${MOST_RECEIVERS}.`,
    }),
    alerts: Type.Array(
      Type.Object(
        {
          id: id('Id of the alert: the first number in `webhook-id`.'),
          created_at: time('When the balance fell below the threshold, or the test was requested.'),
          credits_balance: Type.Number({
            minimum: -MAX_CREDITS,
            maximum: MAX_CREDITS,
            description: 'Balance in the alert, in credits.',
          }),
          test: Type.Boolean({ description: 'Whether it is a test alert.' }),
          deliveries: Type.Array(DeliverySchema, { description: 'One for each key that had a webhook_url.' }),
        },
        { title: 'Alert' },
      ),
    ),
  },
  { title: 'AlertList', description: 'Who gets alerts, and alerts with each delivery, newest first.' },
);

const DELIVERY_EXAMPLE = {
  key_id: 1,
  url: 'https://hooks.example.com/credits',
  status: 'delivered' as const,
  http_status: 204,
  error: null,
  duration_ms: 38,
  attempted_at: '2026-11-21T08:00:00.120Z',
};

export const ALERT_LIST_EXAMPLE = {
  receivers: [
    {
      key_id: 1,
      key_name: 'default',
      url: 'https://hooks.example.com/credits',
      last: DELIVERY_EXAMPLE,
    },
  ],
  alerts: [
    {
      id: 3,
      created_at: '2026-11-21T08:00:00.000Z',
      credits_balance: 99.994876,
      test: false,
      deliveries: [DELIVERY_EXAMPLE],
    },
  ],
};

export const QueuedAlert = Type.Object(
  { id: id('Id of the alert in `GET /api/account/alerts/`.') },
  {
    title: 'QueuedAlert',
    description: 'The test alert is queued; its deliveries appear in the list of alerts under this id.',
  },
);

export const AlertQuery = section({
  limit: optional(PAGE_LIMIT, DEFAULT_PAGE_LIMIT, 'Maximum number of alerts; the newest are returned.'),
});

export type AlertListView = Static<typeof AlertList>;
/** A low-credits alert, or a test of one (specification section 7). */
export type AlertView = AlertListView['alerts'][number];
/** A key whose webhook gets the next alert, and how the latest delivery to its address ended. */
export type ReceiverView = AlertListView['receivers'][number];
/** Response to a test request. */
export type QueuedAlertView = Static<typeof QueuedAlert>;
/** One POST of an alert to the webhook of one key. */
export type DeliveryView = AlertView['deliveries'][number];

export function alertView(alert: Alert): AlertView {
  return {
    id: alert.id,
    created_at: timestamp(alert.createdAt),
    credits_balance: creditsNumber(alert.creditsBalance),
    test: alert.test,
    deliveries: alert.deliveries.map(deliveryView),
  };
}

function deliveryView(delivery: Delivery): DeliveryView {
  return {
    key_id: delivery.keyId,
    url: delivery.url,
    status: delivery.status,
    http_status: delivery.httpStatus,
    error: delivery.error,
    duration_ms: delivery.durationMs,
    attempted_at: timestamp(delivery.attemptedAt),
  };
}

/** Receivers with the latest delivery to the address of each; `alerts`: newest first. */
export function receiverViews(receivers: readonly ReceivingKey[], alerts: readonly Alert[]): ReceiverView[] {
  const latest = new Map<string, Delivery>();
  for (const { deliveries } of alerts) {
    for (const delivery of deliveries) if (!latest.has(delivery.url)) latest.set(delivery.url, delivery);
  }
  return receivers.map(({ keyId, keyName, url }) => {
    const last = latest.get(url);
    return { key_id: keyId, key_name: keyName, url, last: last ? deliveryView(last) : null };
  });
}
