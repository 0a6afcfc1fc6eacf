import type { AccountPatchBody, OperatorAccountView } from '../../../api/account/account-view.ts';
import { MAX_CALL_LIMIT } from '../../../domain/call-limits.ts';
import { DEFAULT_ALERT_THRESHOLD } from '../../../domain/key.ts';
import { KEY_FIELDS } from '../../../domain/key-fields.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import type { CallLimit } from '../format/call-limits.ts';
import { count, credits } from '../format/credits.ts';
import { readAmount } from '../format/read-amount.ts';
import { readWhole } from '../format/read-whole.ts';
import { type LimitRow, limitRows, limitWords, readLimitRows } from '../limits/limit-rows.ts';
import { type ReadDraft, readFields } from '../ui/read-fields.ts';

/** The settings of an account as they are typed, under their names in the API. */
export interface AccountDraft extends Readonly<Record<CallLimit, string>> {
  readonly name: string;
  readonly email: string;
  readonly alert_threshold: string;
  readonly overdraft: string;
  readonly spending_limits: readonly LimitRow[];
}

/** Labels of the fields, in the order of the form. */
export const LABELS = {
  name: 'Name',
  email: 'Email address',
  alert_threshold: 'Alert threshold',
  overdraft: 'Overdraft',
  spending_limits: 'Spending limits',
  rpm_limit: KEY_FIELDS.rpmLimit.label,
  tpm_limit: KEY_FIELDS.tpmLimit.label,
  max_parallel_requests: KEY_FIELDS.maxParallelRequests.label,
} as const;

/** Fields of an account that is to be made. Empty fields get the defaults of the configuration. */
export interface NewAccountDraft extends AccountDraft {
  readonly owner_email: string;
  readonly credits: string;
}

export const NEW_LABELS = {
  ...LABELS,
  credits: 'Initial credits',
  owner_email: 'Invite an owner',
} as const;

export const NEW_ACCOUNT: NewAccountDraft = {
  email: '',
  name: '',
  credits: '0',
  owner_email: '',
  alert_threshold: String(DEFAULT_ALERT_THRESHOLD),
  overdraft: '',
  spending_limits: [],
  rpm_limit: '',
  tpm_limit: '',
  max_parallel_requests: '',
};

/** The draft of an account as it is stored. */
export function draftOf(account: OperatorAccountView): AccountDraft {
  const text = (amount: number | null) => (amount === null ? '' : String(amount));
  return {
    name: account.name,
    email: account.email,
    alert_threshold: String(account.alert_threshold),
    overdraft: String(account.overdraft),
    spending_limits: limitRows(account.spending_limits),
    rpm_limit: text(account.rpm_limit),
    tpm_limit: text(account.tpm_limit),
    max_parallel_requests: text(account.max_parallel_requests),
  };
}

/** Parses the settings of an account; the gateway checks again. */
export function readDraft(draft: AccountDraft): ReadDraft<AccountPatchBody> {
  const limit = (name: CallLimit) => () => (isEmpty(draft[name]) ? null : callLimit(draft, name));
  return readFields<AccountPatchBody>({
    name: () => draft.name.trim(),
    email: () => draft.email.trim(),
    alert_threshold: () => readAmount('The threshold', draft.alert_threshold, 'alert_threshold'),
    overdraft: () => readAmount('The overdraft', draft.overdraft, 'overdraft'),
    spending_limits: () => readLimitRows(draft.spending_limits),
    rpm_limit: limit('rpm_limit'),
    tpm_limit: limit('tpm_limit'),
    max_parallel_requests: limit('max_parallel_requests'),
  });
}

/** Parses an account that is to be made. */
export function readNewAccount(draft: NewAccountDraft): ReadDraft<NewAccountBody> {
  const given = <Value>(text: string, value: () => Value) => (isEmpty(text) ? undefined : value());
  const limit = (name: CallLimit) => () => given(draft[name], () => callLimit(draft, name));
  return readFields<NewAccountBody>({
    email: () => draft.email.trim(),
    name: () => given(draft.name, () => draft.name.trim()),
    credits: () => readAmount('Credits', draft.credits, 'credits'),
    owner_email: () => given(draft.owner_email, () => draft.owner_email.trim()),
    alert_threshold: () => readAmount('The threshold', draft.alert_threshold, 'alert_threshold'),
    overdraft: () => given(draft.overdraft, () => readAmount('The overdraft', draft.overdraft, 'overdraft')),
    spending_limits: () => readLimitRows(draft.spending_limits),
    rpm_limit: limit('rpm_limit'),
    tpm_limit: limit('tpm_limit'),
    max_parallel_requests: limit('max_parallel_requests'),
  });
}

/** Body of a new account; undefined fields are left out of the request. */
export type NewAccountBody = {
  readonly [Field in keyof NewAccountDraft]: Field extends 'spending_limits'
    ? readonly WireLimit[]
    : string | number | undefined;
};

function callLimit(draft: AccountDraft, name: CallLimit): number {
  return readWhole('The limit', draft[name], name, MAX_CALL_LIMIT, 'Leave empty for none.');
}

function isEmpty(text: string): boolean {
  return text.trim() === '';
}

/** A setting in words, for the table of a conflict. */
export function settingWords(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (field === 'spending_limits')
    return (value as readonly WireLimit[]).map(limitWords).join('; ') || 'none';
  if (typeof value !== 'number') return String(value);
  return field === 'alert_threshold' || field === 'overdraft' ? credits(value) : count(value);
}
