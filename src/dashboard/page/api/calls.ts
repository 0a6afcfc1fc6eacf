import type { CallPageView, CallView, OperatorCallView } from '../../../api/calls/call-view.ts';
import type { Base } from './account.ts';
import { ask, askRaw } from './request.ts';

/** Path below which calls are: those of an account, or those of all. */
export type CallsBase = Base | '/api/admin/';

/** A call; in the operator's list over all accounts with its account. */
export type ListedCall = CallView & Partial<Pick<OperatorCallView, 'account_id'>>;
export type CallListView = Omit<CallPageView, 'calls'> & { readonly calls: readonly ListedCall[] };

/** Names of the filters of calls, each empty if it is not used. `from` and `to` are UTC days, both included. */
export const CALL_FILTERS = [
  'account_id',
  'key_id',
  'result',
  'code',
  'model',
  'endpoint',
  'upstream',
] as const;
export type CallFilter = Readonly<Record<(typeof CALL_FILTERS)[number] | 'from' | 'to', string>>;
export const NO_FILTER = Object.fromEntries(
  [...CALL_FILTERS, 'from', 'to'].map((name) => [name, '']),
) as CallFilter;

export function readCalls(
  base: CallsBase,
  filter: CallFilter,
  before: string,
  limit: number,
  signal: AbortSignal,
): Promise<CallListView> {
  const query = callQuery(filter, { limit: String(limit), before });
  return ask('GET', `${base}calls/?${query}`, { signal });
}

/** Reads one call by its request id. */
export function readCall(base: CallsBase, id: string, signal: AbortSignal): Promise<ListedCall> {
  const place = base === '/api/account/' ? base : '/api/admin/';
  return ask('GET', `${place}calls/${encodeURIComponent(id)}/`, { signal });
}

/** Reads all calls, as they are filtered, as a file. */
export async function exportCalls(base: CallsBase, filter: CallFilter): Promise<Blob> {
  const response = await askRaw('GET', `${base}calls/?${callQuery(filter, { format: 'csv' })}`);
  return response.blob();
}

function callQuery(filter: CallFilter, more: Record<string, string>): string {
  const said = Object.entries({ ...filter, ...more }).filter(([, value]) => value !== '');
  return new URLSearchParams(said).toString();
}
