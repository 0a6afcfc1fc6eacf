import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { LedgerEntry, Outcome } from '../domain/ledger-entry.ts';
import { ledgerEntry } from './ledger.ts';
import { type RefusalRecord, refusedCall } from './refusals.ts';
import type { BookSchema, LedgerRow } from './schema.ts';
import type { Store } from './store.ts';

/** How calls are filtered by their end: as they should, refused by the gateway, or any other way. */
export const CALL_RESULTS = ['ok', 'refused', 'failed'] as const;
type CallResult = (typeof CALL_RESULTS)[number];

/** A place in the list of calls: that of this call. */
export interface CallPlace {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly id: string;
}

/** The calls that came in between two times, of which absent filters leave nothing out. */
export interface CallQuery {
  /** Absent: all accounts. */
  readonly accountId?: number | undefined;
  readonly keyId?: number | undefined;
  /** As the request named it. */
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly code?: string | undefined;
  readonly outcome?: Outcome | 'refused' | undefined;
  readonly result?: CallResult | undefined;
  readonly upstream?: string | undefined;
  /** Milliseconds since the epoch, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Older calls than this one only. */
  readonly before?: CallPlace | undefined;
  /** 1–1,000. */
  readonly limit: number;
}

/** A call that reached an upstream, by its ledger entry, or one that was refused. */
export type CallRecord = CallPlace &
  ({ readonly entry: LedgerEntry; readonly refused?: undefined } | RefusalRecord);

/** The part of the book that lists calls (specification section 14). */
export interface BookCalls {
  /** Calls, newest first: by the time when they came in, then by id. */
  calls(query: CallQuery): Promise<CallRecord[]>;
  /** A call of an account, or with `undefined` of any. */
  call(accountId: number | undefined, id: string): Promise<CallRecord | undefined>;
}

/** A literal, so that both engines see that the index of calls that failed serves it. */
const FAILED = sql<SqlBool>`(outcome is null or outcome <> 'complete')`;

/**
 * The list of calls is merged from two tables: calls that reached an upstream are ledger entries, and refused ones are not. Both
 * are in the order of the time when they came in.
 */
export function callQueries(store: Store): BookCalls {
  const { db, engine } = store;
  // Ids are compared as the merge compares them, by code units.
  const id = engine === 'postgres' ? sql<string>`id collate "C"` : sql<string>`id`;

  const charged = async (query: CallQuery): Promise<CallRecord[]> => {
    const { outcome, result, from, to, before } = query;
    if (result === 'refused' || outcome === 'refused') return [];
    const where = conditions(query, 'started_at', id);
    // SQLite would take it for a second bound of the time, and so prefer the index of all calls to that of a filter.
    const isBounded = from !== undefined || to !== undefined || before !== undefined;
    if (!isBounded) where.push(sql<SqlBool>`started_at is not null`);
    if (result === 'ok') where.push(sql<SqlBool>`outcome = 'complete'`);
    if (result === 'failed' || (outcome !== undefined && outcome !== 'complete')) where.push(FAILED);
    const rows = where.reduce((all, one) => all.where(one), db.selectFrom('ledger').selectAll());
    const found = await rows.orderBy('started_at', 'desc').orderBy(id, 'desc').limit(query.limit).execute();
    return found.map(callOfRow);
  };

  const refused = async ({ outcome = 'refused', ...query }: CallQuery): Promise<CallRecord[]> => {
    if (query.upstream !== undefined) return [];
    if ((query.result ?? 'refused') !== 'refused' || outcome !== 'refused') return [];
    const where = conditions(query, 'created_at', id);
    const rows = where.reduce((all, one) => all.where(one), db.selectFrom('refusals').selectAll());
    const found = await rows.orderBy('created_at', 'desc').orderBy(id, 'desc').limit(query.limit).execute();
    return found.map(refusedCall);
  };

  return {
    async calls(query) {
      const [some, others] = await Promise.all([charged(query), refused(query)]);
      return [...some, ...others].sort(newerFirst).slice(0, query.limit);
    },

    async call(accountId, callId) {
      // PostgreSQL takes no U+0000, so that no call can have such an id.
      if (callId.includes('\0')) return undefined;
      const of = <T extends 'ledger' | 'refusals'>(query: SelectQueryBuilder<BookSchema, T, object>) => {
        const one = query.where(sql`id`, '=', callId);
        return accountId === undefined ? one : one.where(sql`account_id`, '=', accountId);
      };
      const row = (await of(db.selectFrom('ledger').selectAll())
        .where('started_at', 'is not', null)
        .executeTakeFirst()) as LedgerRow | undefined;
      if (row) return callOfRow(row);
      const refusal = await of(db.selectFrom('refusals').selectAll()).executeTakeFirst();
      return refusal && refusedCall(refusal as Parameters<typeof refusedCall>[0]);
    },
  };
}

/** The conditions of a query on a table whose rows came in at the column `time`. */
function conditions(
  { accountId, keyId, model, endpoint, code, upstream, outcome, from, to, before }: CallQuery,
  time: 'started_at' | 'created_at',
  id: Expression<string>,
): Expression<SqlBool>[] {
  // Calls of a key are found by its account.
  const ofKey = keyId && sql<number>`(select account_id from keys where keys.id = ${keyId})`;
  const exact = { account_id: accountId ?? ofKey, key_id: keyId, model, endpoint, code, upstream, outcome };
  const at = sql.ref(time);
  return [
    ...Object.entries(exact).flatMap(([column, value]) =>
      value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`],
    ),
    ...(from === undefined ? [] : [sql<SqlBool>`${at} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${at} <= ${to}`]),
    ...(before ? [olderThan(at, id, before)] : []),
  ];
}

function olderThan(time: Expression<unknown>, id: Expression<string>, { createdAt, id: of }: CallPlace) {
  return sql<SqlBool>`${time} <= ${createdAt} and (${time} < ${createdAt} or ${id} < ${of})`;
}

function newerFirst(a: CallPlace, b: CallPlace): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

function callOfRow(row: LedgerRow): CallRecord {
  return { id: row.id, createdAt: row.started_at ?? row.created_at, entry: ledgerEntry(row) };
}
