import type { AccountPatchBody, OperatorAccountView } from '../../../api/account/account-view.ts';
import { KEY_FIELDS } from '../../../domain/key-fields.ts';
import { limitsText } from '../../../domain/spending-limits-text.ts';
import { CALL_LIMITS } from '../format/call-limits.ts';
import { count, credits } from '../format/credits.ts';
import { limitsOf } from '../format/limits.ts';
import { readAmount } from '../format/read-amount.ts';
import { callLimitOf, callLimitTexts } from '../keys/call-limit-texts.ts';
import type { Difference } from '../ui/difference.ts';

/** Names of the form's fields in the API. */
export const ACCOUNT_FIELDS = [
  'email',
  'alert_threshold',
  'overdraft',
  'spending_limits',
  ...CALL_LIMITS,
] as const;
type AccountField = (typeof ACCOUNT_FIELDS)[number];

/** State of the form of an account: the text of each field before it is parsed. */
export type AccountDraft = Readonly<Record<AccountField, string>>;

export const ACCOUNT_LABELS: Readonly<Record<AccountField, string>> = {
  email: 'Email address',
  alert_threshold: 'Alert threshold',
  overdraft: 'Overdraft',
  spending_limits: 'Spending limits',
  rpm_limit: KEY_FIELDS.rpmLimit.label,
  tpm_limit: KEY_FIELDS.tpmLimit.label,
  max_parallel_requests: KEY_FIELDS.maxParallelRequests.label,
};

/** The draft of an account as it is stored. */
export function draftOf(account: OperatorAccountView): AccountDraft {
  return {
    email: account.email,
    alert_threshold: String(account.alert_threshold),
    overdraft: String(account.overdraft),
    spending_limits: limitsText(account.spending_limits),
    ...callLimitTexts(account),
  };
}

/** The fields whose text differs from what the form was filled with. */
export function touchedIn(draft: AccountDraft, filledFrom: OperatorAccountView): AccountField[] {
  const before = draftOf(filledFrom);
  return ACCOUNT_FIELDS.filter((field) => draft[field].trim() !== before[field]);
}

/** Body of the PATCH: the touched fields. Throws an ApiFailure that names the first field whose text is no value. */
export function changesOf(draft: AccountDraft, touched: readonly AccountField[]): AccountPatchBody {
  return Object.fromEntries(touched.map((field) => [field, parsed(draft, field)]));
}

type FieldValue = AccountPatchBody[AccountField];

function parsed(draft: AccountDraft, field: AccountField): FieldValue {
  if (field === 'email') return draft.email.trim();
  if (field === 'alert_threshold') return readAmount('The threshold', draft.alert_threshold, field);
  if (field === 'overdraft') return readAmount('The overdraft', draft.overdraft, field);
  if (field === 'spending_limits') return limitsOf(draft.spending_limits);
  return callLimitOf(draft, field);
}

/** True if one of the changed fields was given another value meanwhile: `now` has neither the old nor the new. */
export function isContested(
  changes: AccountPatchBody,
  before: OperatorAccountView,
  now: OperatorAccountView,
): boolean {
  return ACCOUNT_FIELDS.some(
    (field) =>
      field in changes && !isEqual(now[field], before[field]) && !isEqual(now[field], changes[field]),
  );
}

/** Fields in which `before` with `changes` differs from `now`, which somebody else saved meanwhile. */
export function differencesOf(
  changes: AccountPatchBody,
  before: OperatorAccountView,
  now: OperatorAccountView,
): Difference[] {
  const form = { ...before, ...changes };
  return ACCOUNT_FIELDS.filter((field) => !isEqual(form[field], now[field])).map((field) => ({
    label: ACCOUNT_LABELS[field],
    mine: field in changes ? inWords(field, form[field]) : undefined,
    theirs: inWords(field, now[field]),
  }));
}

function isEqual(one: FieldValue, other: FieldValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function inWords(field: AccountField, value: FieldValue): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return limitsText(value) || 'none';
  return field === 'alert_threshold' || field === 'overdraft' ? credits(value) : count(value);
}
