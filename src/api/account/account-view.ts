import {
  creditsNumber,
  MAX_CREDITS,
  MICRO_PER_CREDIT,
  type Micro,
  micro,
  microFromCredits,
} from '../../domain/credits.ts';
import { SIX_DECIMALS, TEXT_PATTERNS } from '../../domain/json-patterns.ts';
import { type AccountRecord, DEFAULT_ALERT_THRESHOLD } from '../../domain/key.ts';
import { isLonger, spendingLimits, storable, TYPES } from '../../domain/key-readers.ts';
import { timestamp } from '../../domain/period.ts';
import {
  boolean,
  fieldSchema,
  fieldSchemas,
  maybe,
  oneOf,
  optional,
  patched,
  reader,
  required,
  type Sent,
  section,
  text,
  withDefault,
} from '../../domain/shape.ts';
import { type Windows, wireLimits } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { CREATED_KEY_EXAMPLE, CreatedKey } from '../keys/key-schema.ts';
import { callLimitsView } from '../keys/key-view.ts';
import { LIMIT_EXAMPLE, Limit, type LimitView, limitViews } from '../keys/limit-view.ts';
import { EntryPath } from '../ledger/entry-view.ts';
import {
  balance,
  callLimits,
  credits,
  creditsField,
  DEFAULT_PAGE_LIMIT,
  exactCredits,
  id,
  orNull,
  PAGE_LIMIT,
  time,
  timeOrNull,
} from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const name = required(TYPES.name, 'Display name of the account, one line. Default: its e-mail address.');

/** Alert threshold of an account, for its owner and the operator. */
const alert_threshold = creditsField('A debit that takes the balance below this sends the alert.');

/** Overdraft of an account, for its owner and the operator. */
const overdraft = creditsField(
  'How far calls in flight can together take the balance below 0, and the spend of a key above its limit. Set by the ' +
    'operator. 0: not at all.',
);

const spending_limits = required(
  spendingLimits,
  "Spending limits of the account's keys together, at most one for each period. Set by the operator. Empty: none.",
);

/** Fields of an account that its owner and the operator see. */
const SETTINGS = { alert_threshold, overdraft, spending_limits, ...callLimits("the account's") };
/** Remaining credits of its spending limits. */
const limits = Type.Array(Limit, {
  description: "The account's spending limits, with what is left of each.",
});

export const Account = Type.Object(
  {
    id: id('Id of the account.'),
    email: Type.String({ description: 'Email address of the owner, which alerts include.' }),
    name: fieldSchema(name),
    credits_balance: balance('Balance after the last settled call.'),
    credits_held: credits('Amount that calls in flight have reserved.'),
    ...fieldSchemas(SETTINGS),
    limits,
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
  name: 'demo@example.com',
  credits_balance: 999.989958,
  credits_held: 0,
  alert_threshold: 100,
  overdraft: 0,
  rpm_limit: 600,
  tpm_limit: null,
  max_parallel_requests: 100,
  spending_limits: [{ period: 'monthly', credits: 10 }],
  limits: [{ ...LIMIT_EXAMPLE, of: 'account' as const }],
  webhook_secret: 'whsec_…',
  created_at: '2026-11-21T08:00:00.000Z',
};

export const AccountPatch = section(patched({ name, alert_threshold }), {
  title: 'AccountPatch',
  description: 'Fields that an owner can change.',
});

/** Maximum length of a mail address (RFC 5321, section 4.5.3.1.3 with erratum 1690). */
const LONGEST_EMAIL = 254;

/**
 * An e-mail address, stored as sent. Rejects only clear mistakes: it requires one @ with text on both sides, and no
 * spaces or control characters. No pattern can prove that mail arrives.
 */
export const emailAddress = text(
  `must be an email address of at most ${LONGEST_EMAIL} characters, such as owner@example.com`,
  (given) =>
    !isLonger(given, LONGEST_EMAIL) && /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(given) ? given : undefined,
  { maxLength: LONGEST_EMAIL, pattern: TEXT_PATTERNS.email },
);
const email = required(emailAddress, 'Email address of the owner, unique among accounts.');
const is_active = required(
  boolean,
  'false: every gateway refuses all keys of the account from the answer on.',
);

export const AdminAccount = Type.Object(
  {
    id: id('Id of the account.'),
    email: Type.String({ description: 'Email address of the owner.' }),
    name: fieldSchema(name),
    is_active: fieldSchema(is_active),
    credits_balance: balance('Balance after the last settled call.'),
    credits_held: credits('Amount that calls in flight have reserved.'),
    ...fieldSchemas(SETTINGS),
    limits,
    created_at: time('When the account was created.'),
  },
  { title: 'AdminAccount', description: 'The account, as its operator sees it.' },
);

export const ADMIN_ACCOUNT_EXAMPLE = {
  id: 2,
  email: 'owner@example.com',
  name: 'Example Inc.',
  is_active: true,
  credits_balance: 250,
  credits_held: 0,
  alert_threshold: 50,
  overdraft: 0,
  rpm_limit: 600,
  tpm_limit: null,
  max_parallel_requests: 100,
  spending_limits: [],
  limits: [],
  created_at: '2026-11-21T08:00:00.000Z',
};

/** What an account did lately, in the list of accounts. */
const USE = {
  spent_30d: exactCredits('Spent in the last 30 UTC days, today included.'),
  lasts_days: orNull(
    Type.Number({ minimum: 0 }),
    'Days that the balance lasts at the pace of the last 7 days; null: nothing was spent.',
  ),
  refused_24h: Type.Integer({
    minimum: 0,
    description: 'Calls refused for want of credits in the last 24 hours.',
  }),
  out_of_credits: Type.Boolean({
    description: 'Whether some of those calls came after the last top-up.',
  }),
  last_used_at: timeOrNull('Time of the latest call, settled or refused; null: none.'),
};

export const ListedAccount = Type.Object(
  { ...AdminAccount.properties, ...USE },
  { title: 'ListedAccount', description: 'The account, with what it did lately.' },
);

export const LISTED_ACCOUNT_EXAMPLE = {
  ...ADMIN_ACCOUNT_EXAMPLE,
  spent_30d: '12.089000',
  lasts_days: 144.8,
  refused_24h: 0,
  out_of_credits: false,
  last_used_at: '2026-11-21T08:00:00.000Z',
};

export const AdminAccountPage = Type.Object(
  {
    accounts: Type.Array(ListedAccount),
    next: orNull(Type.String(), 'Send it as `after` for the next page; null: no more.'),
  },
  { title: 'AdminAccountPage', description: 'Accounts in the order asked for.' },
);

/** Values by which accounts are sorted. */
export const ACCOUNT_SORTS = ['id', 'balance', 'spend', 'lasts', 'refused', 'last_used'] as const;
export type AccountSort = (typeof ACCOUNT_SORTS)[number];
const SORTS = ACCOUNT_SORTS.flatMap((sort) => [sort, `-${sort}`] as const);

/** Position of an account in a sorted list: its value, null for none, and its id. */
export interface AccountPlace {
  readonly value: number | null;
  readonly id: number;
}

const ACCOUNT_CURSOR = /^(?:(-?\d{1,20}(?:\.\d{1,10})?|none):)?([1-9]\d{0,15})$/;

const PLACE = text(
  'must be the value of "next" from the previous page',
  (given): AccountPlace | undefined => {
    const [, value, id] = ACCOUNT_CURSOR.exec(given) ?? [];
    if (id === undefined) return undefined;
    return {
      value: value === undefined ? Number(id) : value === 'none' ? null : Number(value),
      id: Number(id),
    };
  },
  { pattern: ACCOUNT_CURSOR.source, examples: ['1024'] },
);

export const AccountsQuery = section({
  limit: optional(PAGE_LIMIT, DEFAULT_PAGE_LIMIT, 'Number of accounts per page.'),
  after: maybe(PLACE, '`next` of the previous page, with the same `sort`.'),
  sort: optional(
    oneOf(...SORTS),
    'id',
    'Order, with `-` descending. Accounts without the value come last; of equal ones, the lower id first.',
  ),
  email: maybe(
    text(
      `must be a string of 1 to ${LONGEST_EMAIL} characters`,
      (part) => (part === '' || isLonger(part, LONGEST_EMAIL) || part.includes('\0') ? undefined : part),
      { minLength: 1, maxLength: LONGEST_EMAIL, examples: ['example.com'] },
    ),
    'Only accounts whose email address contains this, in any case.',
  ),
});

export const NewAccount = section(
  {
    email,
    name: maybe(name.read, name.description),
    owner_email: maybe(
      emailAddress,
      'Also invites an owner, who must have this e-mail address: the answer has `invitation_link`.',
    ),
    credits: withDefault(creditsField('Initial balance: the first top-up in the ledger.'), micro(0)),
    alert_threshold: withDefault(
      alert_threshold,
      micro(DEFAULT_ALERT_THRESHOLD * MICRO_PER_CREDIT),
      DEFAULT_ALERT_THRESHOLD,
    ),
    overdraft: maybe(
      overdraft.read,
      `${overdraft.description} Default: \`accounts.overdraft\` of the configuration.`,
    ),
    spending_limits: withDefault(spending_limits, []),
    ...callLimits("the account's", (setting) => ` Default: \`accounts.${setting}\` of the configuration.`),
  },
  { title: 'NewAccount', description: 'The new account.' },
);

export const CreatedAccount = Type.Object(
  {
    account: AdminAccount,
    key: CreatedKey,
    invitation_link: Type.Optional(
      Type.String({
        description: 'With `owner_email`: invites the owner, once, for 7 days. In this answer only.',
      }),
    ),
    mailed: Type.Optional(
      Type.Boolean({ description: 'With `owner_email`: whether the link was sent there.' }),
    ),
  },
  { title: 'CreatedAccount', description: 'The account with its first key, which can manage.' },
);

export const CREATED_ACCOUNT_EXAMPLE = { account: ADMIN_ACCOUNT_EXAMPLE, key: CREATED_KEY_EXAMPLE };

export const AdminAccountPatch = section(patched({ email, name, is_active, ...SETTINGS }), {
  title: 'AdminAccountPatch',
  description: 'Fields that an operator can change.',
});

const account_id = Type.Integer({ minimum: 1, description: 'Id of the account.', examples: [2] });
const key_id = Type.Integer({ minimum: 1, description: 'Id of a key of the account.', examples: [3] });
export const AccountPath = Type.Object({ account_id });
export const AccountKeyPath = Type.Object({ account_id, key_id });
export const AccountEntryPath = Type.Object({ account_id, ...EntryPath.properties });

export const LONGEST_IDEMPOTENCY_KEY = 255;

/** Credits of either sign, but not 0. */
const AMOUNT = reader<Micro, number>(
  { type: 'number', minimum: -MAX_CREDITS, maximum: MAX_CREDITS, ...SIX_DECIMALS.ofSigned },
  (value, path, faults) => {
    if (value === 0) return faults.add(path, 'must not be 0');
    const right = `must be a number of credits with at most six decimals, up to ${MAX_CREDITS}`;
    return (typeof value === 'number' ? microFromCredits(value) : undefined) ?? faults.add(path, right);
  },
);

export const Credits = section(
  {
    amount: required(
      AMOUNT,
      'Credits to add, with at most six decimals, not 0. A negative amount is an adjustment. The balance must stay ' +
        'in the same range.',
    ),
    note: optional(storable(1_000), '', 'Comment that the ledger shows.'),
  },
  { title: 'Credits', description: 'A change of the balance.' },
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

export type NewAccountBody = Sent<typeof NewAccount>;
/** Absent fields stay unchanged. */
export type AccountPatchBody = Sent<typeof AdminAccountPatch>;
export type CreditsBody = Sent<typeof Credits>;

/** An account as its owner sees it (specification section 7). Amounts are numbers of credits. */
export type AccountView = Static<typeof Account>;
/** An account as the operator sees it. */
export type OperatorAccountView = Static<typeof AdminAccount>;
/** An account in the operator's list. */
export type ListedAccountView = Static<typeof ListedAccount>;
/** A page of `GET /api/admin/accounts/`. */
export type AccountPageView = Static<typeof AdminAccountPage>;
/** Response to account creation. */
export type CreatedAccountView = Static<typeof CreatedAccount>;
/** Response to a balance change. */
export type CreditsView = Static<typeof CreditsAnswer>;

/** Current balance, holds and spend of an account in Redis. */
interface LiveAmounts {
  readonly balance: Micro;
  readonly held: Micro;
  readonly windows: Windows;
  /** Milliseconds of Redis' clock. */
  readonly now: number;
}

export async function liveAmounts(ledger: Ledger, accountId: number): Promise<LiveAmounts> {
  const [live, [windows]] = await Promise.all([
    ledger.account(accountId),
    ledger.windows(accountId, ['account']),
  ]);
  return { ...live, windows: windows as Windows, now: ledger.now(accountId) };
}

/** Spending limits of an account, with what is left of each. */
export function accountLimits(
  { spendingLimits }: AccountRecord,
  { windows, now }: Pick<LiveAmounts, 'windows' | 'now'>,
): LimitView[] {
  return limitViews('account', spendingLimits, windows, now);
}

export function accountView(account: AccountRecord, live: LiveAmounts): AccountView {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    credits_balance: creditsNumber(live.balance),
    credits_held: creditsNumber(live.held),
    alert_threshold: creditsNumber(account.alertThreshold),
    overdraft: creditsNumber(account.overdraft),
    spending_limits: wireLimits(account.spendingLimits),
    limits: accountLimits(account, live),
    ...callLimitsView(account),
    webhook_secret: account.webhookSecret,
    created_at: timestamp(account.createdAt),
  };
}

export function operatorAccountView(account: AccountRecord, live: LiveAmounts): OperatorAccountView {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    is_active: account.isActive,
    credits_balance: creditsNumber(live.balance),
    credits_held: creditsNumber(live.held),
    alert_threshold: creditsNumber(account.alertThreshold),
    overdraft: creditsNumber(account.overdraft),
    spending_limits: wireLimits(account.spendingLimits),
    limits: accountLimits(account, live),
    ...callLimitsView(account),
    created_at: timestamp(account.createdAt),
  };
}
