import type {
  AccountPageView,
  AccountPatchBody,
  CreatedAccountView,
  CreditsBody,
  CreditsView,
  NewAccountBody,
  OperatorAccountView,
} from '../../../api/account/account-view.ts';
import type { CreatedKeyView } from '../../../api/keys/key-view.ts';
import type { OperatorModelListView } from '../../../api/models/model-view.ts';
import type { MarginReportView } from '../../../api/operator/margin-view.ts';
import type { ProviderListView } from '../../../api/operator/providers-view.ts';
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

export function createAccount(body: NewAccountBody): Promise<CreatedAccountView> {
  return made('account', ask('POST', '/api/admin/accounts/', { body }));
}

/** Changes an account; rejects with the refusal of a field. */
export function changeAccount(id: number, body: AccountPatchBody): Promise<OperatorAccountView> {
  return ask('PATCH', `/api/admin/accounts/${id}/`, { body });
}

/** Changes the balance. `repeatKey` is the idempotency key, with which a second try does not change it twice. */
export function grantCredits(id: number, body: CreditsBody, repeatKey: string): Promise<CreditsView> {
  const headers = { 'idempotency-key': repeatKey };
  return ask('POST', `/api/admin/accounts/${id}/credits/`, { body, headers });
}

/** Creates a managing key for an account. Rejects with `answer_lost` where the outcome is unknown. */
export function createAccountKey(id: number, name: string): Promise<CreatedKeyView> {
  return made('key', ask('POST', `/api/admin/accounts/${id}/keys/`, { body: { name } }));
}

/** Query of the operator's usage report; "" for the gateway's default. `from` and `to` are UTC days, both included. */
export type UsageChoice = Readonly<Record<'group_by' | 'from' | 'to', string>>;

export function readUsageOfAll(choice: UsageChoice, signal: AbortSignal): Promise<MarginReportView> {
  return ask('GET', `/api/admin/usage/?${usageQuery(choice)}`, { signal });
}

export function readModelsOfOperator(signal: AbortSignal): Promise<OperatorModelListView> {
  return ask('GET', '/api/admin/models/', { signal });
}

export function readProviders(signal: AbortSignal): Promise<ProviderListView> {
  return ask('GET', '/api/admin/providers/', { signal });
}

export async function exportUsageOfAll(choice: UsageChoice): Promise<Blob> {
  const response = await askRaw('GET', `/api/admin/usage/?${usageQuery({ ...choice, format: 'csv' })}`);
  return response.blob();
}

function usageQuery(chosen: Readonly<Record<string, string>>): URLSearchParams {
  return new URLSearchParams(Object.entries(chosen).filter(([, value]) => value !== ''));
}
