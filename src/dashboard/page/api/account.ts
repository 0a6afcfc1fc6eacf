import type { AccountView } from '../../../domain/account-view.ts';
import { type Asked, ask, askRaw } from './request.ts';

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
  readonly balance_after: string;
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

export function readUsage(groupBy: 'day' | 'key' | 'model', signal: AbortSignal): Promise<UsageReport> {
  return ask('GET', `/api/account/usage/?group_by=${groupBy}`, { signal });
}

/** Query of a ledger page or export; empty: not filtered. */
export type LedgerFilter = Readonly<{ key_id: string; type: string; model: string }>;

export function readLedger(
  filter: LedgerFilter,
  before: string | null,
  limit: number,
  signal: AbortSignal,
): Promise<EntryPage> {
  const query = ledgerQuery(filter, { limit: String(limit), before: before ?? '' });
  return ask('GET', `/api/account/ledger/?${query}`, { signal });
}

export async function exportLedger(filter: LedgerFilter, format: 'csv' | 'jsonl'): Promise<Blob> {
  const response = await askRaw('GET', `/api/account/ledger/?${ledgerQuery(filter, { format })}`);
  return response.blob();
}

function ledgerQuery(filter: LedgerFilter, more: Record<string, string>): string {
  const said = Object.entries({ ...filter, ...more }).filter(([, value]) => value !== '');
  return new URLSearchParams(said).toString();
}

export async function readAlerts(signal?: AbortSignal): Promise<readonly Alert[]> {
  const { alerts } = await ask<{ alerts: Alert[] }>('GET', '/api/account/alerts/', signal ? { signal } : {});
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
