import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import type { LedgerEntry } from './book.ts';
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
    ...(row.call !== null && (JSON.parse(row.call) as CallFields)),
    seq: row.seq,
    balanceAfter: micro(row.balance_after),
  };
}

type CallFields = Pick<
  JournalEntry,
  'price' | 'passes' | 'multiplier' | 'cost' | 'upstream' | 'attempts' | 'durationMs' | 'streamed'
>;

/**
 * Column with everything that an entry says about its call, as JSON: no query asks for a single field of it, and each
 * further column would be one more parameter of every row.
 */
function callOf({
  price,
  passes,
  multiplier,
  cost,
  upstream,
  attempts,
  durationMs,
  streamed,
}: JournalEntry): string | null {
  if (price === undefined && upstream === undefined && cost === undefined) return null;
  const call: { [Name in keyof CallFields]: CallFields[Name] | undefined } = {
    price,
    passes,
    multiplier,
    cost,
    upstream,
    attempts,
    durationMs,
    streamed,
  };
  return JSON.stringify(call);
}
