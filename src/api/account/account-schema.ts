import { DELIVERY_STATUSES } from '../../book/book.ts';
import { MAX_CREDITS } from '../../domain/credits.ts';
import { callLimitSchemas } from '../keys/call-limit-fields.ts';
import { balance, credits, DEFAULT_PAGE_LIMIT, id, pageLimit, timestamp, words } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';

/** Schema of the alert threshold of an account, as its owner and the operator see it. */
export const alert_threshold = credits('A debit that takes the balance below this sends the alert.');

/** Schema of the overdraft of an account, as its owner and the operator see it. */
export const overdraft = credits(
  'How far calls in flight can together take the balance below 0, and the spend of a key above its limit. Set by the ' +
    'operator. 0: not at all.',
);

/** Schemas of the limits of calls of an account, as its owner and the operator see them. */
export const accountCallLimits = callLimitSchemas("the account's");

export const Account = Type.Object(
  {
    id: id('Id of the account.'),
    email: Type.String({ description: 'Email address of the owner, which alerts include.' }),
    credits_balance: balance('Balance after the last settled call.'),
    credits_held: credits('Amount that calls in flight have reserved.'),
    alert_threshold,
    overdraft,
    ...accountCallLimits,
    webhook_secret: Type.Optional(
      Type.String({
        description:
          "Standard Webhooks secret that alerts are signed with. Absent if the request presents the key's previous value.",
      }),
    ),
    created_at: timestamp('When the account was created.'),
  },
  { title: 'Account', description: 'The account of the calling key.' },
);

export const ACCOUNT_EXAMPLE = {
  id: 1,
  email: 'demo@example.com',
  credits_balance: 999.989958,
  credits_held: 0,
  alert_threshold: 100,
  overdraft: 0,
  rpm_limit: 600,
  tpm_limit: null,
  max_parallel_requests: 100,
  webhook_secret: 'whsec_…',
  created_at: '2026-11-21T08:00:00.000Z',
};

export const AccountPatch = Type.Object(
  { alert_threshold: Type.Optional(alert_threshold) },
  { title: 'AccountPatch', description: 'Fields that an owner can change.', additionalProperties: false },
);

const Delivery = Type.Object(
  {
    key_id: id('Key whose `webhook_url` this is.'),
    url: Type.String({ description: 'Address of the receiver.' }),
    status: words(
      DELIVERY_STATUSES,
      '`delivered`: a 2xx answer. `failed`: another status, or no connection. `timeout`: no answer within 10 s. `blocked`: ' +
        'not a public address. `unknown`: no answer yet, or the gateway died while sending.',
    ),
    http_status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Status of the answer; null: no answer.',
    }),
    duration_ms: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
      description: 'Milliseconds from name resolution to the headers of the answer; null: unknown.',
    }),
    attempted_at: timestamp('Time of sending.'),
  },
  { title: 'Delivery', description: 'One POST to the webhook of one key.' },
);

export const AlertList = Type.Object(
  {
    alerts: Type.Array(
      Type.Object(
        {
          id: id('Id of the alert: the first number in `webhook-id`.'),
          created_at: timestamp('When the balance fell below the threshold, or the test was requested.'),
          credits_balance: Type.Number({
            minimum: -MAX_CREDITS,
            maximum: MAX_CREDITS,
            description: 'Balance in the alert, in credits.',
          }),
          test: Type.Boolean({ description: 'Whether it is a test alert.' }),
          deliveries: Type.Array(Delivery, { description: 'One for each key that had a webhook_url.' }),
        },
        { title: 'Alert' },
      ),
    ),
  },
  { title: 'AlertList', description: 'Alerts with the outcome of each delivery, newest first.' },
);

export const ALERT_LIST_EXAMPLE = {
  alerts: [
    {
      id: 3,
      created_at: '2026-11-21T08:00:00.000Z',
      credits_balance: 99.994876,
      test: false,
      deliveries: [
        {
          key_id: 1,
          url: 'https://hooks.example.com/credits',
          status: 'delivered',
          http_status: 204,
          duration_ms: 38,
          attempted_at: '2026-11-21T08:00:00.120Z',
        },
      ],
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

export const AlertQuery = Type.Object({
  limit: pageLimit('Maximum number of alerts; the newest are returned.', { default: DEFAULT_PAGE_LIMIT }),
});
