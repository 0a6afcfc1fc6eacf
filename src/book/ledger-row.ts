import { micro } from '../domain/credits.ts';
import type { JournalEntry, LedgerEntry } from '../domain/ledger-entry.ts';
import type { LedgerRow } from './schema.ts';

export const LEDGER_COLUMNS = [
  'account_id',
  'seq',
  'id',
  'epoch',
  'type',
  'created_at',
  'day',
  'key_id',
  'model',
  'category',
  'endpoint',
  'status',
  'outcome',
  'usage',
  'estimated',
  'credits',
  'balance_after',
  'note',
  'started_at',
  'code',
  'upstream',
  'call',
] as const satisfies readonly (keyof LedgerRow)[];

/** The row of a journal entry in the ledger. */
export function entryRow(entry: JournalEntry): LedgerRow {
  return {
    account_id: entry.accountId,
    seq: entry.seq,
    id: entry.id,
    epoch: entry.epoch,
    type: entry.type,
    created_at: entry.createdAt,
    day: entry.day,
    key_id: entry.keyId,
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    status: entry.status,
    outcome: entry.outcome,
    usage: JSON.stringify(entry.usage),
    estimated: Number(entry.estimated),
    credits: entry.credits,
    balance_after: entry.balanceAfter,
    note: entry.note ?? null,
    started_at: startedAt(entry),
    code: entry.code ?? null,
    upstream: entry.upstream ?? null,
    call: callOf(entry),
  };
}

/** The ledger entry in a row. */
export function ledgerEntry(row: LedgerRow): LedgerEntry {
  return {
    id: row.id,
    type: row.type,
    accountId: row.account_id,
    keyId: row.key_id,
    createdAt: row.created_at,
    model: row.model,
    category: row.category,
    endpoint: row.endpoint,
    status: row.status,
    outcome: row.outcome,
    usage: JSON.parse(row.usage),
    estimated: row.estimated === 1,
    credits: micro(row.credits),
    ...(row.note !== null && { note: row.note }),
    ...(row.code !== null && { code: row.code }),
    ...(row.upstream !== null && { upstream: row.upstream }),
    ...(row.call !== null && (JSON.parse(row.call) as CallFields)),
    seq: row.seq,
    balanceAfter: micro(row.balance_after),
  };
}

/** When the call of an entry came in; null for entries that are no call. */
function startedAt({ type, createdAt, durationMs = 0 }: JournalEntry): number | null {
  return type === 'charge' || type === 'expired_hold' ? createdAt - durationMs : null;
}

const CALL_FIELDS = [
  'price',
  'passes',
  'multiplier',
  'cost',
  'attempts',
  'durationMs',
  'firstByteMs',
  'streamed',
  'message',
  'param',
  'userAgent',
] as const satisfies readonly (keyof JournalEntry)[];
type CallFields = Pick<JournalEntry, (typeof CALL_FIELDS)[number]>;

/**
 * Column with what an entry says about its call and no query asks for, as JSON: each further column would be one more
 * parameter of every row.
 */
function callOf(entry: JournalEntry): string | null {
  const { price, upstream, cost } = entry;
  if (price === undefined && upstream === undefined && cost === undefined) return null;
  const call: Partial<Record<keyof CallFields, unknown>> = {};
  for (const name of CALL_FIELDS) call[name] = entry[name];
  return JSON.stringify(call);
}
