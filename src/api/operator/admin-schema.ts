import { CALL_LIMIT_FIELDS, type CallLimits } from '../../domain/call-limits.ts';
import { MAX_CREDITS } from '../../domain/credits.ts';
import { SIX_DECIMALS, TEXT_PATTERNS } from '../../domain/json-patterns.ts';
import { DEFAULT_ALERT_THRESHOLD } from '../../domain/key.ts';
import { accountCallLimits, alert_threshold, overdraft } from '../account/account-schema.ts';
import { LONGEST_EMAIL } from '../http/body-fields.ts';
import { CREATED_KEY_EXAMPLE, CreatedKey } from '../keys/key-schema.ts';
import { EntryPath } from '../ledger/entry-view.ts';
import { balance, credits, cursor, DEFAULT_PAGE_LIMIT, id, pageLimit, time } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';

const is_active = Type.Boolean({
  description: 'false refuses every key of the account, at every gateway, once it is answered.',
});
const email = Type.String({
  maxLength: LONGEST_EMAIL,
  pattern: TEXT_PATTERNS.email,
  description: 'Email address of the owner; no two accounts have the same.',
});

export const AdminAccount = Type.Object(
  {
    id: id('Names the account in paths.'),
    email: Type.String({ description: 'Email address of the owner.' }),
    is_active,
    credits_balance: balance('What is left, to the call that was settled last.'),
    credits_held: credits('What calls in flight have reserved of it.'),
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
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'To be sent as `after` for the following page; null: there is none.',
    }),
  },
  { title: 'AdminAccountPage', description: 'Accounts by id ascending.' },
);

export const AdminAccountQuery = Type.Object({
  limit: pageLimit('How many accounts a page has.', { default: DEFAULT_PAGE_LIMIT }),
  after: cursor('The `next` of the page before.'),
  email: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LONGEST_EMAIL,
      description: 'Only accounts whose e-mail address has this in it, in any case.',
      examples: ['example.com'],
    }),
  ),
});

/** Schema of a limit of a new account, whose default is the `setting` of the configuration. */
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
    credits: Type.Optional(
      credits('What the account starts with: the first top-up of its ledger.', { default: 0 }),
    ),
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
  { title: 'CreatedAccount', description: 'The account with its first key, which may manage.' },
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
  { title: 'AdminAccountPatch', description: 'What an operator may change.', additionalProperties: false },
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
        'Credits to add, at most six decimals, not 0: a top-up; a negative amount is an adjustment. The balance must stay ' +
        'within the same range.',
    }),
    note: Type.Optional(
      Type.String({
        maxLength: LONGEST_NOTE,
        pattern: TEXT_PATTERNS.storable,
        default: '',
        description: 'A note for the books; the ledger shows it.',
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
        'Makes a repeat of this request harmless: it changes nothing and gets the same answer. Belongs to the account.',
      examples: ['invoice-1001'],
    }),
  ),
});

export const CreditsAnswer = Type.Object(
  { credits_balance: balance('The balance right after the change.') },
  { title: 'CreditsAnswer', description: 'The balance right after the change; the same for a repeat.' },
);
