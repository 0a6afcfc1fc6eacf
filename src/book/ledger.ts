import { type Kysely, sql } from 'kysely';
import { type Micro, micro } from '../domain/credits.ts';
import { type EntryType, type JournalEntry, type LedgerEntry, refundId } from '../domain/ledger-entry.ts';
import { chunks } from './many-rows.ts';
import type { BookSchema, LedgerRow } from './schema.ts';
import type { Store } from './store.ts';

export interface LedgerQuery {
  readonly accountId: number;
  readonly keyId?: number | undefined;
  readonly type?: EntryType | undefined;
  readonly model?: string | undefined;
  /** Only entries booked to these UTC days: days since 1970-01-01, inclusive. */
  readonly fromDay?: number | undefined;
  readonly toDay?: number | undefined;
  /** Only entries with a lower seq. */
  readonly before?: number | undefined;
  /** 1–1,000. */
  readonly limit: number;
}

/** Charge of a call, as a refund needs it. */
export interface Charge {
  readonly entry: LedgerEntry;
  /** The person whose key made the call; null: the key is the account's. */
  readonly personId: number | null;
  /** Day it was booked to: days since 1970-01-01 UTC. */
  readonly day: number;
  /** Its refund is in the ledger. */
  readonly isRefunded: boolean;
}

/** Reads the ledger. */
export interface BookLedger {
  entry(accountId: number, id: string): Promise<LedgerEntry | undefined>;
  charge(accountId: number, id: string): Promise<Charge | undefined>;
  /**
   * Time of the latest call in the ledger, a charge or an expired hold, by key; keys without calls are absent. The
   * latest is the one booked last.
   */
  lastCalls(accountId: number, keyIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Newest first. */
  ledger(query: LedgerQuery): Promise<LedgerEntry[]>;
  /** For each account: stored balance, Σ of its ledger, and the last entry's balance_after (null: no entry). */
  reconcile(): AsyncIterable<{
    accountId: number;
    email: string;
    balance: Micro;
    ledgerSum: Micro;
    lastBalanceAfter: Micro | null;
  }>;
}

export function ledgerQueries(store: Store): BookLedger {
  const { db } = store;
  return {
    async ledger({ accountId, keyId, type, model, fromDay, toDay, before, limit }) {
      let query = db.selectFrom('ledger').selectAll().where('account_id', '=', accountId);
      if (keyId !== undefined) query = query.where('key_id', '=', keyId);
      if (type !== undefined) query = query.where('type', '=', type);
      // A literal, so both planners can use the partial index on non-charges.
      if (type !== undefined && type !== 'charge') query = query.where('type', '!=', sql.lit('charge'));
      if (model !== undefined) query = query.where('model', '=', model);
      if (fromDay !== undefined) query = query.where('day', '>=', fromDay);
      if (toDay !== undefined) query = query.where('day', '<=', toDay);
      if (before !== undefined) query = query.where('seq', '<', before);
      const rows = await query.orderBy('seq', 'desc').limit(limit).execute();
      return rows.map(ledgerEntry);
    },

    async entry(accountId, id) {
      // PostgreSQL rejects U+0000, so no entry can have such an id.
      if (id.includes('\0')) return undefined;
      const row = await db
        .selectFrom('ledger')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .executeTakeFirst();
      return row && ledgerEntry(row);
    },

    async charge(accountId, id) {
      const rows = await db
        .selectFrom('ledger')
        .leftJoin('keys', 'keys.id', 'ledger.key_id')
        .selectAll('ledger')
        .select('keys.person_id')
        .where('ledger.id', 'in', [id, refundId(id)])
        .where('ledger.account_id', '=', accountId)
        .execute();
      const row = rows.find((found) => found.id === id);
      if (!row) return undefined;
      return {
        entry: ledgerEntry(row),
        personId: row.person_id,
        day: row.day,
        isRefunded: rows.length > 1,
      };
    },

    /**
     * Costs calls no write: one lookup per key at the end of the index ledger_key, past the few refunds booked later.
     */
    async lastCalls(accountId, keyIds) {
      const found = new Map<number, number>();
      for (const ids of chunks(keyIds)) {
        const rows = await db
          .selectFrom('keys')
          .select('id')
          .select((select) =>
            select
              .selectFrom('ledger')
              .select('created_at')
              .whereRef('ledger.key_id', '=', 'keys.id')
              .where('ledger.account_id', '=', accountId)
              .where('ledger.type', 'in', ['charge', 'expired_hold'])
              .orderBy('seq', 'desc')
              .limit(1)
              .as('last_call'),
          )
          .where('id', 'in', ids)
          .execute();
        for (const { id, last_call } of rows) if (last_call !== null) found.set(id, last_call);
      }
      return found;
    },

    reconcile: () => sumsOfAccounts(db),
  };
}

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

/** Time that the call of an entry was received; null for entries other than calls. */
function startedAt({ type, createdAt, durationMs = 0 }: JournalEntry): number | null {
  return type === 'charge' || type === 'expired_hold' ? createdAt - durationMs : null;
}

const CALL_FIELDS = [
  'price',
  'passes',
  'multiplier',
  'cost',
  'attempts',
  'admittedAt',
  'hours',
  'durationMs',
  'firstByteMs',
  'streamed',
  'param',
  'userAgent',
] as const satisfies readonly (keyof JournalEntry)[];
/** Rows from before 0003_bounds have the error message too. */
type CallFields = Pick<JournalEntry, (typeof CALL_FIELDS)[number] | 'message'>;

/**
 * Call details that no query filters by, as one JSON column: each further column would add a parameter to every row.
 */
function callOf(entry: JournalEntry): string | null {
  const { price, upstream, cost, admittedAt } = entry;
  if (price === undefined && upstream === undefined && cost === undefined && admittedAt === undefined)
    return null;
  const call: Partial<Record<keyof CallFields, unknown>> = {};
  for (const name of CALL_FIELDS) call[name] = entry[name];
  return JSON.stringify(call);
}

/** Accounts per page: few, so one statement sums few ledgers, and memory doesn't grow with the number of accounts. */
const PAGE = 50;

async function* sumsOfAccounts(db: Kysely<BookSchema>): ReturnType<BookLedger['reconcile']> {
  /** Reads a page in one statement, a consistent snapshot despite a running gateway. */
  const page = (after: number) =>
    db
      .selectFrom('accounts')
      .select(['accounts.id', 'email', 'balance'])
      .select((eb) => [
        eb
          .selectFrom('ledger')
          .whereRef('ledger.account_id', '=', 'accounts.id')
          .select(({ fn }) => fn.sum<number | null>('ledger.credits').as('sum'))
          .as('ledger_sum'),
        eb
          .selectFrom('ledger')
          .whereRef('ledger.account_id', '=', 'accounts.id')
          .select('ledger.balance_after')
          .orderBy('ledger.seq', 'desc')
          .limit(1)
          .as('last_balance_after'),
      ])
      .where('accounts.id', '>', after)
      .orderBy('accounts.id')
      .limit(PAGE)
      .execute();

  let rows = await page(0);
  while (rows.length > 0) {
    for (const row of rows) {
      yield {
        accountId: row.id,
        email: row.email,
        balance: micro(row.balance),
        ledgerSum: micro(row.ledger_sum ?? 0),
        lastBalanceAfter: row.last_balance_after === null ? null : micro(row.last_balance_after),
      };
    }
    rows = await page(rows.at(-1)?.id ?? 0);
  }
}

/** Returns those of the ids that the ledger has. */
export async function idsInLedger(db: Kysely<BookSchema>, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const chunk of chunks(ids)) {
    const rows = await db.selectFrom('ledger').select('id').where('id', 'in', chunk).execute();
    for (const { id } of rows) found.add(id);
  }
  return found;
}
