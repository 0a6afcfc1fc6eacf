import { CALL_LIMIT_FIELDS, type CallLimits } from '../../domain/call-limits.ts';
import { creditsNumber, MAX_CREDITS, type Micro } from '../../domain/credits.ts';
import { SIX_DECIMALS, TEXT_PATTERNS } from '../../domain/json-patterns.ts';
import { type AccountRecord, DEFAULT_ALERT_THRESHOLD } from '../../domain/key.ts';
import { timestamp } from '../../domain/period.ts';
import { LONGEST_EMAIL } from '../http/body-fields.ts';
import { CREATED_KEY_EXAMPLE, CreatedKey } from '../keys/key-schema.ts';
import { callLimitsView } from '../keys/key-view.ts';
import { EntryPath } from '../ledger/entry-view.ts';
import {
  balance,
  callLimitSchemas,
  credits,
  cursor,
  DEFAULT_PAGE_LIMIT,
  id,
  orNull,
  pageLimit,
  time,
} from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

/** Alert threshold of an account, for its owner and the operator. */
export const alert_threshold = credits('A debit that takes the balance below this sends the alert.');

/** Overdraft of an account, for its owner and the operator. */
export const overdraft = credits(
  'How far calls in flight can together take the balance below 0, and the spend of a key above its limit. Set by the ' +
    'operator. 0: not at all.',
);

/** Call limits of an account, for its owner and the operator. */
const accountCallLimits = callLimitSchemas("the account's");

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
  { title: 'AccountPatch', description: 'Fields that an owner can change.', additionalProperties: false },
);

const is_active = Type.Boolean({
  description: 'false: every gateway refuses all keys of the account from the answer on.',
});
const email = Type.String({
  maxLength: LONGEST_EMAIL,
  pattern: TEXT_PATTERNS.email,
  description: 'Email address of the owner, unique among accounts.',
});

export const AdminAccount = Type.Object(
  {
    id: id('Id of the account.'),
    email: Type.String({ description: 'Email address of the owner.' }),
    is_active,
    credits_balance: balance('Balance after the last settled call.'),
    credits_held: credits('Amount that calls in flight have reserved.'),
    alert_threshold,
    overdraft,
    ...accountCallLimits,
    created_at: time('When the account was created.'),
  },
  { title: 'AdminAccount', description: 'The account, as its operator sees it.' },
);

export const ADMIN_ACCOUNT_EXAMPLE = {
  id: 2,
  email: 'owner@example.com',
  is_active: true,
  credits_balance: 250,
  credits_held: 0,
  alert_threshold: 50,
  overdraft: 0,
  rpm_limit: 600,
  tpm_limit: null,
  max_parallel_requests: 100,
  created_at: '2026-11-21T08:00:00.000Z',
};

export const AdminAccountPage = Type.Object(
  {
    accounts: Type.Array(AdminAccount),
    next: orNull(Type.String(), 'Send it as `after` for the next page; null: no more.'),
  },
  { title: 'AdminAccountPage', description: 'Accounts by ascending id.' },
);

export const AdminAccountQuery = Type.Object({
  limit: pageLimit('Number of accounts per page.', { default: DEFAULT_PAGE_LIMIT }),
  after: cursor('`next` of the previous page.'),
  email: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LONGEST_EMAIL,
      description: 'Only accounts whose email address contains this, in any case.',
      examples: ['example.com'],
    }),
  ),
});

/** Limit of a new account; defaults to `setting` in the configuration. */
function limitOfNew(setting: keyof CallLimits) {
  const limit = accountCallLimits[CALL_LIMIT_FIELDS[setting]];
  return Type.Optional({
    ...limit,
    description: `${limit.description} Default: \`accounts.${setting}\` of the configuration.`,
  });
}

export const NewAccountBody = Type.Object(
  {
    email,
    credits: Type.Optional(credits('Initial balance: the first top-up in the ledger.', { default: 0 })),
    alert_threshold: Type.Optional({ ...alert_threshold, default: DEFAULT_ALERT_THRESHOLD }),
    overdraft: Type.Optional({
      ...overdraft,
      description: `${overdraft.description} Default: \`accounts.overdraft\` of the configuration.`,
    }),
    [CALL_LIMIT_FIELDS.rpmLimit]: limitOfNew('rpmLimit'),
    [CALL_LIMIT_FIELDS.tpmLimit]: limitOfNew('tpmLimit'),
    [CALL_LIMIT_FIELDS.maxParallelRequests]: limitOfNew('maxParallelRequests'),
  },
  { title: 'NewAccount', description: 'The new account.', additionalProperties: false },
);

export const CreatedAccount = Type.Object(
  { account: AdminAccount, key: CreatedKey },
  { title: 'CreatedAccount', description: 'The account with its first key, which can manage.' },
);

export const CREATED_ACCOUNT_EXAMPLE = { account: ADMIN_ACCOUNT_EXAMPLE, key: CREATED_KEY_EXAMPLE };

export const AdminAccountPatch = Type.Object(
  {
    email: Type.Optional(email),
    alert_threshold: Type.Optional(alert_threshold),
    overdraft: Type.Optional(overdraft),
    is_active: Type.Optional(is_active),
    ...Type.Partial(Type.Object(accountCallLimits)).properties,
  },
  {
    title: 'AdminAccountPatch',
    description: 'Fields that an operator can change.',
    additionalProperties: false,
  },
);

const account_id = Type.Integer({ minimum: 1, description: 'Id of the account.', examples: [2] });
const key_id = Type.Integer({ minimum: 1, description: 'Id of a key of the account.', examples: [3] });
export const AccountPath = Type.Object({ account_id });
export const AccountKeyPath = Type.Object({ account_id, key_id });
export const AccountEntryPath = Type.Object({ account_id, ...EntryPath.properties });

export const LONGEST_NOTE = 1_000;
export const LONGEST_IDEMPOTENCY_KEY = 255;

export const CreditsBody = Type.Object(
  {
    amount: Type.Number({
      minimum: -MAX_CREDITS,
      maximum: MAX_CREDITS,
      ...SIX_DECIMALS.ofSigned,
      description:
        'Credits to add, with at most six decimals, not 0. A negative amount is an adjustment. The balance must stay ' +
        'in the same range.',
    }),
    note: Type.Optional(
      Type.String({
        maxLength: LONGEST_NOTE,
        pattern: TEXT_PATTERNS.storable,
        default: '',
        description: 'Comment that the ledger shows.',
      }),
    ),
  },
  { title: 'Credits', description: 'A change of the balance.', additionalProperties: false },
);

export const CreditsHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LONGEST_IDEMPOTENCY_KEY,
      description:
        'With it, a repeat changes nothing and gets the same answer. Keys of different accounts are independent.',
      examples: ['invoice-1001'],
    }),
  ),
});

export const CreditsAnswer = Type.Object(
  { credits_balance: balance('Balance after the change.') },
  { title: 'CreditsAnswer', description: 'Balance after the change; the same for a repeat.' },
);

/** An account as its owner sees it (specification section 7). Amounts are numbers of credits. */
export type AccountView = Static<typeof Account>;
/** An account as the operator sees it. */
export type OperatorAccountView = Static<typeof AdminAccount>;
/** A page of `GET /api/admin/accounts/`. */
export type AccountPageView = Static<typeof AdminAccountPage>;
/** Response to account creation. */
export type CreatedAccountView = Static<typeof CreatedAccount>;
/** Response to a balance change. */
export type CreditsView = Static<typeof CreditsAnswer>;

/** Current balance and holds of an account in Redis. */
interface LiveAmounts {
  readonly balance: Micro;
  readonly held: Micro;
}

export function accountView(account: AccountRecord, live: LiveAmounts): AccountView {
  return {
    id: account.id,
    email: account.email,
    credits_balance: creditsNumber(live.balance),
    credits_held: creditsNumber(live.held),
    alert_threshold: creditsNumber(account.alertThreshold),
    overdraft: creditsNumber(account.overdraft),
    ...callLimitsView(account),
    webhook_secret: account.webhookSecret,
    created_at: timestamp(account.createdAt),
  };
}

export function operatorAccountView(account: AccountRecord, live: LiveAmounts): OperatorAccountView {
  return {
    id: account.id,
    email: account.email,
    is_active: account.isActive,
    credits_balance: creditsNumber(live.balance),
    credits_held: creditsNumber(live.held),
    alert_threshold: creditsNumber(account.alertThreshold),
    overdraft: creditsNumber(account.overdraft),
    ...callLimitsView(account),
    created_at: timestamp(account.createdAt),
  };
}
