import type { AccountView } from '../../../api/account/account-view.ts';
import type { AlertListView, AlertView, QueuedAlertView } from '../../../api/alerts/alert-view.ts';
import type { ExplanationView } from '../../../api/explain/explanation-view.ts';
import type { KeyListView, KeyView } from '../../../api/keys/key-view.ts';
import type { EntryPageView, EntryView } from '../../../api/ledger/entry-view.ts';
import type { ModelListView, ModelView } from '../../../api/models/model-view.ts';
import type { UsageGroup, UsageReportView } from '../../../api/usage/usage-view.ts';
import type { Question } from '../explain/call-question.ts';
import { seesKeys } from '../session/may.ts';
import { knowsModels, session } from '../session/session.ts';
import { listKeys } from './keys.ts';
import { readModelsOfOperator } from './operator.ts';
import { ask, askRaw, type RequestOptions } from './request.ts';

/**
 * Path below which an account's ledger, usage and alerts are: that of the session's key, or one that the operator
 * views.
 */
export type Base = '/api/account/' | `/api/admin/accounts/${number}/`;
export const OWN = '/api/account/';

export function readAccount(options: RequestOptions = {}): Promise<AccountView> {
  return ask('GET', '/api/account/', options);
}

export function setThreshold(alert_threshold: number): Promise<AccountView> {
  return ask('PATCH', '/api/account/', { body: { alert_threshold } });
}

export function readUsage(base: Base, groupBy: UsageGroup, signal: AbortSignal): Promise<UsageReportView> {
  return ask('GET', `${base}usage/?group_by=${groupBy}`, { signal });
}

/** What a report of usage is asked for; "" leaves a filter out. */
export interface UsageQuestion {
  /** One group or two: `day`, `hour,model`. */
  readonly group_by: string;
  readonly key_id?: string;
  /** UTC days, both included; "" for the gateway's default, the last 30 days or 24 hours. */
  readonly from?: string;
  readonly to?: string;
}

export function readUsageOf(
  base: Base,
  question: UsageQuestion,
  signal: AbortSignal,
): Promise<UsageReportView> {
  const asked = Object.entries(question).filter(([, value]) => value !== '');
  return ask('GET', `${base}usage/?${new URLSearchParams(asked)}`, { signal });
}

/**
 * Reads the keys of the account that the session sees, by which entries and deliveries show the names of theirs; none for
 * a role without keys.
 */
export async function readKeys(base: Base, signal: AbortSignal): Promise<readonly KeyView[]> {
  if (base === OWN) return seesKeys(session.value?.role ?? 'key') ? listKeys(signal) : [];
  const { keys } = await ask<KeyListView>('GET', `${base}keys/`, { signal });
  return keys;
}

/** Names of the ledger's filters, each empty if it is not used. `from` and `to` are UTC days, both included. */
export const LEDGER_FILTERS = ['key_id', 'type', 'model', 'from', 'to'] as const;
export type LedgerFilter = Readonly<Record<(typeof LEDGER_FILTERS)[number], string>>;

export function readLedger(
  base: Base,
  filter: LedgerFilter,
  before: string,
  limit: number,
  signal: AbortSignal,
): Promise<EntryPageView> {
  const query = ledgerQuery(filter, { limit: String(limit), before });
  return ask('GET', `${base}ledger/?${query}`, { signal });
}

/** Reads the ledger entry of a call. */
export function readEntry(base: Base, id: string, signal: AbortSignal): Promise<EntryView> {
  return ask('GET', `${base}ledger/${encodeURIComponent(id)}/`, { signal });
}

/** Reads the whole ledger, as it is filtered, as a file. */
export async function exportLedger(base: Base, filter: LedgerFilter, format: 'csv' | 'jsonl'): Promise<Blob> {
  const response = await askRaw('GET', `${base}ledger/?${ledgerQuery(filter, { format })}`);
  return response.blob();
}

function ledgerQuery(filter: LedgerFilter, more: Record<string, string>): string {
  const said = Object.entries({ ...filter, ...more }).filter(([, value]) => value !== '');
  return new URLSearchParams(said).toString();
}

export async function readAlerts(base: Base, signal?: AbortSignal): Promise<readonly AlertView[]> {
  const { alerts } = await ask<AlertListView>('GET', `${base}alerts/`, signal ? { signal } : {});
  return alerts;
}

export function sendTestAlert(): Promise<QueuedAlertView> {
  return ask('POST', '/api/account/alerts/test/');
}

/**
 * Reads the models that a key may call; `token` is its value, by default the session's. For a person it reads all models
 * if they are an operator; other people get none, because the API shows them to keys only.
 */
export async function readModels(signal: AbortSignal, token?: string): Promise<readonly ModelView[]> {
  if (token === undefined && session.value?.token === undefined) {
    return knowsModels() ? (await readModelsOfOperator(signal)).models : [];
  }
  const { data } = await ask<ModelListView>('GET', '/v1/models', { signal, ...(token ? { token } : {}) });
  return data;
}

/** Reads the paths of the model endpoints from the gateway's OpenAPI description. */
export async function readEndpoints(signal: AbortSignal): Promise<readonly string[]> {
  const { paths } = await ask<{ paths: Record<string, object> }>('GET', '/openapi.json', { signal });
  return Object.keys(paths).filter((path) => path.startsWith('/v1/') && 'post' in (paths[path] ?? {}));
}

/** Asks what a call with a key of the account at `base` would get. */
export function explainCall(base: Base, id: number, body: Question): Promise<ExplanationView> {
  const path = base === OWN ? '/api/keys/' : `${base}keys/`;
  return ask('POST', `${path}${id}/explain/`, { body });
}
