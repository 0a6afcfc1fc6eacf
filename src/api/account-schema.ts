import { Type } from 'typebox';

export const Account = Type.Object(
  {
    id: Type.Integer(),
    email: Type.String(),
    credits_balance: Type.Number({ description: 'Credits' }),
    credits_held: Type.Number({ description: 'Credits reserved for requests in flight' }),
    alert_threshold: Type.Number({ description: 'Falling below this many credits sends the alert' }),
    webhook_secret: Type.Optional(
      Type.String({ description: 'Standard Webhooks secret; only for a key that may manage' }),
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { description: 'The account of the calling key' },
);

export const AccountPatch = Type.Object(
  { alert_threshold: Type.Optional(Type.Number({ minimum: 0 })) },
  { additionalProperties: false },
);

const Delivery = Type.Object({
  key_id: Type.Integer(),
  url: Type.String(),
  status: Type.Union(
    ['delivered', 'failed', 'timeout', 'blocked', 'unknown'].map((status) => Type.Literal(status)),
  ),
  http_status: Type.Union([Type.Integer(), Type.Null()]),
  duration_ms: Type.Union([Type.Number(), Type.Null()]),
  attempted_at: Type.String({ format: 'date-time' }),
});

export const AlertList = Type.Object(
  {
    alerts: Type.Array(
      Type.Object({
        id: Type.Integer(),
        created_at: Type.String({ format: 'date-time' }),
        credits_balance: Type.Number(),
        test: Type.Boolean(),
        deliveries: Type.Array(Delivery),
      }),
    ),
  },
  { description: 'Alerts with the outcome of each delivery, newest first' },
);

export const QueuedAlert = Type.Object(
  { id: Type.Integer() },
  { description: 'The test alert is queued; its deliveries appear in the list of alerts under this id' },
);

export const AlertQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
});
