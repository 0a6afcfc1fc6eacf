import type { CreatedKeyView } from '../../../domain/key-view.ts';
import { type Asked, ask } from './request.ts';

export interface OperatorAccount {
  readonly id: number;
  readonly email: string;
  readonly is_active: boolean;
  readonly credits_balance: number;
  readonly credits_held: number;
  readonly alert_threshold: number;
  readonly created_at: string;
}

export interface AccountPage {
  readonly accounts: readonly OperatorAccount[];
  readonly next: string | null;
}

export function listAccounts(after: string | null, limit: number, asked: Asked = {}): Promise<AccountPage> {
  const cursor = after === null ? '' : `&after=${encodeURIComponent(after)}`;
  return ask('GET', `/api/admin/accounts/?limit=${limit}${cursor}`, asked);
}

export function readOneAccount(id: number, signal: AbortSignal): Promise<OperatorAccount> {
  return ask('GET', `/api/admin/accounts/${id}/`, { signal });
}

export function createAccount(body: {
  email: string;
  credits: number;
  alert_threshold: number;
}): Promise<{ account: OperatorAccount; key: CreatedKeyView }> {
  return ask('POST', '/api/admin/accounts/', { body });
}

export function changeAccount(
  id: number,
  body: { email?: string; alert_threshold?: number; is_active?: boolean },
): Promise<OperatorAccount> {
  return ask('PATCH', `/api/admin/accounts/${id}/`, { body });
}

/** `repeatKey` makes a second try of the same change harmless. */
export function grantCredits(
  id: number,
  body: { amount: number; note: string },
  repeatKey: string,
): Promise<{ credits_balance: number }> {
  const headers = { 'idempotency-key': repeatKey };
  return ask('POST', `/api/admin/accounts/${id}/credits/`, { body, headers });
}

export function createAccountKey(id: number, name: string): Promise<CreatedKeyView> {
  return ask('POST', `/api/admin/accounts/${id}/keys/`, { body: { name } });
}
