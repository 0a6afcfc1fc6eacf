import { untilServed } from '../check/until.ts';
import { ADMIN_TOKEN, type GatewayProcess } from '../start/gateway-process.ts';
import { apiOf } from './api.ts';

/** An account with one key, made through the operator's API. */
export interface Owner {
  readonly accountId: number;
  readonly keyId: number;
  /** The key value. */
  readonly key: string;
  readonly email: string;
}

export interface Entry {
  readonly id: string;
  readonly type: string;
  readonly credits: string;
  readonly balance_after: string;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly key_id: number | null;
  readonly estimated: boolean | null;
}

let owners = 0;

export async function makeOwner(
  gateway: Pick<GatewayProcess, 'api'>,
  credits: number,
  threshold = 0,
): Promise<Owner> {
  let email = '';
  const { body, status } = await untilServed('an account', () => {
    // A new address for each try, because a request that got 503 may have created the account.
    email = `owner${owners++}@example.com`;
    return apiOf(gateway, ADMIN_TOKEN).post<{
      account: { id: number };
      key: { id: number; key: string };
    }>('/api/admin/accounts/', { email, credits, alert_threshold: threshold });
  });
  if (status !== 201) throw new Error(`no account was made: ${JSON.stringify(body)}`);
  return { accountId: body.account.id, keyId: body.key.id, key: body.key.key, email };
}

/** Live balance and holds of the account, in credits. */
export async function balanceOf(
  gateway: Pick<GatewayProcess, 'api'>,
  owner: Owner,
): Promise<{ balance: number; held: number }> {
  const { body } = await untilServed('the account', () =>
    apiOf(gateway, owner.key).get<{ credits_balance: number; credits_held: number }>('/api/account/'),
  );
  return { balance: body.credits_balance, held: body.credits_held };
}

/** The whole ledger, newest first. */
export async function ledgerOf(gateway: Pick<GatewayProcess, 'api'>, owner: Owner): Promise<Entry[]> {
  const entries: Entry[] = [];
  let before = '';
  for (;;) {
    const path = `/api/account/ledger/?limit=1000${before}`;
    const { body } = await untilServed('the ledger', () =>
      apiOf(gateway, owner.key).get<{ entries: Entry[]; next: string | null }>(path),
    );
    entries.push(...body.entries);
    if (body.next === null) return entries;
    before = `&before=${body.next}`;
  }
}

/** Sum of the entries in micro-credits. */
export function sumOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { credits }) => sum + Math.round(Number(credits) * 1_000_000), 0);
}
