import { balance, callLimitSchemas, credits, id, time } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';

/** Schema of the alert threshold of an account, as its owner and the operator see it. */
export const alert_threshold = credits(
  'The alert is sent when a debit takes the balance from this or more to below it.',
);

/** Schema of the overdraft of an account, as its owner and the operator see it. */
export const overdraft = credits(
  'How far calls in flight may together take the balance below 0, and the spend of a key above its limit; set by the ' +
    'operator. 0: not at all.',
);

/** Schemas of the limits of calls of an account, as its owner and the operator see them. */
export const accountCallLimits = callLimitSchemas("the account's");

export const Account = Type.Object(
  {
    id: id('The account.'),
    email: Type.String({ description: 'Email address of the owner; alerts name it.' }),
    credits_balance: balance('What is left, to the call that was settled last.'),
    credits_held: credits('What calls in flight have reserved of it.'),
    alert_threshold,
    overdraft,
    ...accountCallLimits,
    webhook_secret: Type.Optional(
      Type.String({
        description:
          "Standard Webhooks secret that alerts are signed with. Absent if the request presents the key's previous value.",
      }),
    ),
    created_at: time('When the account was created.'),
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
  { title: 'AccountPatch', description: 'What an owner may change.', additionalProperties: false },
);
