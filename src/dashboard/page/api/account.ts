import type { AccountView } from '../../../domain/account-view.ts';
import type { KeyView } from '../../../domain/key-view.ts';
import { type Asked, ask, askRaw } from './request.ts';

/** Whose ledger, usage and alerts: those that the session's own key has, or those of an account as its operator sees it. */
export type Base = '/api/account/' | `/api/admin/accounts/${number}/`;
export const OWN = '/api/account/';

export interface Sums {
  readonly calls: number;
  /** Six decimals. */
  readonly credits: string;
}

export interface UsageRow extends Sums {
  readonly day?: string;
  readonly key_id?: number | null;
  readonly model?: string | null;
}

export interface UsageReport {
  readonly from: string;
  readonly to: string;
  readonly rows: readonly UsageRow[];
  readonly total: Sums;
}

export interface Entry {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly key_id: number | null;
  readonly model: string | null;
  readonly category: string | null;
  readonly endpoint: string | null;
  readonly status: number | null;
  readonly outcome: string | null;
  readonly usage: Readonly<Record<string, number>>;
  readonly estimated: boolean;
  readonly credits: string;
  /** Null for a key that sees itself only. */
  readonly balance_after: string | null;
  /** Of top-ups and adjustments. */
  readonly note?: string | null;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly next: string | null;
}

export interface Delivery {
  readonly key_id: number;
  readonly url: string;
  readonly status: 'delivered' | 'failed' | 'timeout' | 'blocked' | 'unknown';
  readonly http_status: number | null;
  readonly duration_ms: number | null;
  readonly attempted_at: string;
}

export interface Alert {
  readonly id: number;
  readonly created_at: string;
  readonly credits_balance: number;
  readonly test: boolean;
  readonly deliveries: readonly Delivery[];
}

export interface Model {
  readonly id: string;
  readonly category: string;
  readonly owned_by: string;
}

export function readAccount(asked: Asked = {}): Promise<AccountView> {
  return ask('GET', '/api/account/', asked);
}

export function setThreshold(alert_threshold: number): Promise<AccountView> {
  return ask('PATCH', '/api/account/', { body: { alert_threshold } });
}

export function readUsage(
  base: Base,
  groupBy: 'day' | 'key' | 'model',
  signal: AbortSignal,
): Promise<UsageReport> {
  return ask('GET', `${base}usage/?group_by=${groupBy}`, { signal });
}

/** The keys that entries and deliveries name. */
export async function readKeys(base: Base, signal: AbortSignal): Promise<readonly KeyView[]> {
  const { keys } = await ask<{ keys: KeyView[] }>('GET', base === OWN ? '/api/keys/' : `${base}keys/`, {
    signal,
  });
  return keys;
}

/** Query of a ledger page or export; empty: not filtered. `from` and `to` are UTC days, both included. */
export const LEDGER_FILTERS = ['key_id', 'type', 'model', 'from', 'to'] as const;
export type LedgerFilter = Readonly<Record<(typeof LEDGER_FILTERS)[number], string>>;

export function readLedger(
  base: Base,
  filter: LedgerFilter,
  before: string,
  limit: number,
  signal: AbortSignal,
): Promise<EntryPage> {
  const query = ledgerQuery(filter, { limit: String(limit), before });
  return ask('GET', `${base}ledger/?${query}`, { signal });
}

export async function exportLedger(base: Base, filter: LedgerFilter, format: 'csv' | 'jsonl'): Promise<Blob> {
  const response = await askRaw('GET', `${base}ledger/?${ledgerQuery(filter, { format })}`);
  return response.blob();
}

function ledgerQuery(filter: LedgerFilter, more: Record<string, string>): string {
  const said = Object.entries({ ...filter, ...more }).filter(([, value]) => value !== '');
  return new URLSearchParams(said).toString();
}

export async function readAlerts(base: Base, signal?: AbortSignal): Promise<readonly Alert[]> {
  const { alerts } = await ask<{ alerts: Alert[] }>('GET', `${base}alerts/`, signal ? { signal } : {});
  return alerts;
}

export function sendTestAlert(): Promise<{ id: number }> {
  return ask('POST', '/api/account/alerts/test/');
}

/** The catalog as the key of the session may use it. */
export async function readModels(signal: AbortSignal): Promise<readonly Model[]> {
  const { data } = await ask<{ data: Model[] }>('GET', '/v1/models', { signal });
  return data;
}

/** Paths that calls are posted to, from the gateway's own description. */
export async function readEndpoints(signal: AbortSignal): Promise<readonly string[]> {
  const { paths } = await ask<{ paths: Record<string, object> }>('GET', '/openapi.json', { signal });
  return Object.keys(paths).filter((path) => path.startsWith('/v1/') && 'post' in (paths[path] ?? {}));
}
