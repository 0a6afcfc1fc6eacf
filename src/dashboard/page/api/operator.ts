import type { AccountPageView, OperatorAccountView } from '../../../api/views/account-view.ts';
import type { CallLimitsView } from '../../../api/views/call-limits-view.ts';
import type { CreatedKeyView } from '../../../api/views/key-view.ts';
import type { MarginReportView } from '../../../api/views/margin-view.ts';
import { ask, askRaw, made, type RequestOptions } from './request.ts';

/**
 * Reads a page of accounts: after the cursor `after` ("" for the first page), with `email` in their address ("" for
 * all).
 */
export function listAccounts(
  after: string,
  limit: number,
  options: RequestOptions = {},
  email = '',
): Promise<AccountPageView> {
  const query = Object.entries({ limit: String(limit), after, email }).filter(([, value]) => value !== '');
  return ask('GET', `/api/admin/accounts/?${new URLSearchParams(query)}`, options);
}

export function readOneAccount(id: number, signal?: AbortSignal): Promise<OperatorAccountView> {
  return ask('GET', `/api/admin/accounts/${id}/`, signal ? { signal } : {});
}

export function createAccount(
  body: {
    email: string;
    credits: number;
    alert_threshold: number;
    overdraft?: number;
  } & Partial<CallLimitsView>,
): Promise<{ account: OperatorAccountView; key: CreatedKeyView }> {
  return made('account', ask('POST', '/api/admin/accounts/', { body }));
}

/** The body of PATCH; a field that is absent is not changed. */
export type AccountChange = {
  email?: string;
  alert_threshold?: number;
  overdraft?: number;
  is_active?: boolean;
} & Partial<CallLimitsView>;

/** Changes an account; rejects with the refusal of a field. */
export function changeAccount(id: number, body: AccountChange): Promise<OperatorAccountView> {
  return ask('PATCH', `/api/admin/accounts/${id}/`, { body });
}

/** Changes the balance. `repeatKey` is the idempotency key, with which a second try does not change it twice. */
export function grantCredits(
  id: number,
  body: { amount: number; note: string },
  repeatKey: string,
): Promise<{ credits_balance: number }> {
  const headers = { 'idempotency-key': repeatKey };
  return ask('POST', `/api/admin/accounts/${id}/credits/`, { body, headers });
}

/** Creates a managing key for an account. Rejects with `answer_lost` where the outcome is unknown. */
export function createAccountKey(id: number, name: string): Promise<CreatedKeyView> {
  return made('key', ask('POST', `/api/admin/accounts/${id}/keys/`, { body: { name } }));
}

/** Query of the operator's usage report; empty: the gateway's default. `from` and `to` are UTC days, both included. */
export const USAGE_CHOICES = ['group_by', 'from', 'to'] as const;
export type UsageChoice = Readonly<Record<(typeof USAGE_CHOICES)[number], string>>;

export function readUsageOfAll(choice: UsageChoice, signal: AbortSignal): Promise<MarginReportView> {
  return ask('GET', `/api/admin/usage/?${usageQuery(choice)}`, { signal });
}

export async function exportUsageOfAll(choice: UsageChoice): Promise<Blob> {
  const response = await askRaw('GET', `/api/admin/usage/?${usageQuery({ ...choice, format: 'csv' })}`);
  return response.blob();
}

function usageQuery(chosen: Readonly<Record<string, string>>): URLSearchParams {
  return new URLSearchParams(Object.entries(chosen).filter(([, value]) => value !== ''));
}
