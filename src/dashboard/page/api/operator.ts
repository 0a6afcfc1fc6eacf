import type { AccountPageView, OperatorAccountView } from '../../../api/views/account-view.ts';
import type { CreatedKeyView, KeyView } from '../../../api/views/key-view.ts';
import { type Asked, ask, made } from './request.ts';

/** A page of accounts. `after`: a cursor; "" for the first page. `email`: a part of the addresses; "" for all. */
export function listAccounts(
  after: string,
  limit: number,
  asked: Asked = {},
  email = '',
): Promise<AccountPageView> {
  const query = Object.entries({ limit: String(limit), after, email }).filter(([, value]) => value !== '');
  return ask('GET', `/api/admin/accounts/?${new URLSearchParams(query)}`, asked);
}

export function readOneAccount(id: number, signal: AbortSignal): Promise<OperatorAccountView> {
  return ask('GET', `/api/admin/accounts/${id}/`, { signal });
}

export function createAccount(body: {
  email: string;
  credits: number;
  alert_threshold: number;
  overdraft?: number;
}): Promise<{ account: OperatorAccountView; key: CreatedKeyView }> {
  return made('account', ask('POST', '/api/admin/accounts/', { body }));
}

export function changeAccount(
  id: number,
  body: { email?: string; alert_threshold?: number; overdraft?: number; is_active?: boolean },
): Promise<OperatorAccountView> {
  return ask('PATCH', `/api/admin/accounts/${id}/`, { body });
}

/** Changes the balance. `repeatKey` is the idempotency key: a second try with it changes nothing twice. */
export function grantCredits(
  id: number,
  body: { amount: number; note: string },
  repeatKey: string,
): Promise<{ credits_balance: number }> {
  const headers = { 'idempotency-key': repeatKey };
  return ask('POST', `/api/admin/accounts/${id}/credits/`, { body, headers });
}

export function createAccountKey(id: number, name: string): Promise<CreatedKeyView> {
  return made('key', ask('POST', `/api/admin/accounts/${id}/keys/`, { body: { name } }));
}

export function switchAccountKey(id: number, keyId: number, is_active: boolean): Promise<KeyView> {
  return ask('PATCH', `/api/admin/accounts/${id}/keys/${keyId}/`, { body: { is_active } });
}
