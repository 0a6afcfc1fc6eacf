import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { LedgerEntry, Outcome } from '../domain/ledger-entry.ts';
import { ofPerson } from './key-row.ts';
import { ledgerEntry } from './ledger.ts';
import { type RefusalRecord, refusedCall } from './refusals.ts';
import type { BookSchema, LedgerRow } from './schema.ts';
import type { Store } from './store.ts';

/** Filter values for calls by result: succeeded, refused by the gateway, or any other result. */
export const CALL_RESULTS = ['ok', 'refused', 'failed'] as const;
export type CallResult = (typeof CALL_RESULTS)[number];

/** Position of a call in the list of calls. */
export interface CallPlace {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly id: string;
}

/** Calls received between two times; absent filters match everything. */
export interface CallQuery {
  /** Absent: all accounts. */
  readonly accountId?: number | undefined;
  readonly keyId?: number | undefined;
  /** Only calls of this person's keys. */
  readonly personId?: number | undefined;
  /** As named in the request. */
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly code?: string | undefined;
  readonly outcome?: Outcome | 'refused' | undefined;
  readonly result?: CallResult | undefined;
  readonly upstream?: string | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Only calls older than this one. */
  readonly before?: CallPlace | undefined;
  /** 1–1,000. */
  readonly limit: number;
}

/** A call that reached an upstream, by its ledger entry, or a refused call. */
export type CallRecord = CallPlace &
  ({ readonly entry: LedgerEntry; readonly refused?: undefined } | RefusalRecord);

/** Lists calls (specification section 14). */
export interface BookCalls {
  /** Calls, newest first: by time received, then by id. */
  calls(query: CallQuery): Promise<CallRecord[]>;
  /** A call of an account, or with `undefined` of any. */
  call(accountId: number | undefined, id: string): Promise<CallRecord | undefined>;
}

/** A literal, so both engines can use the index of failed calls. */
const FAILED = sql<SqlBool>`(outcome is null or outcome <> 'complete')`;

/**
 * Merges two tables by time received: ledger entries are calls that reached an upstream; refused calls are separate.
 */
export function callQueries(store: Store): BookCalls {
  const { db, engine } = store;
  // The merge compares ids by code units.
  const id = engine === 'postgres' ? sql<string>`id collate "C"` : sql<string>`id`;

  const message = sql<
    string | null
  >`(select message from call_messages where call_messages.id = ledger.id)`.as('message');

  const charged = async (query: CallQuery): Promise<CallRecord[]> => {
    const where = chargedConditions(query);
    if (!where) return [];
    const { from, to, before } = query;
    if (before) where.push(olderThan(sql.ref('started_at'), id, before));
    // SQLite would take it for a second time bound, and prefer the index of all calls to that of a filter.
    const isBounded = from !== undefined || to !== undefined || before !== undefined;
    if (!isBounded) where.push(sql<SqlBool>`started_at is not null`);
    const rows = where.reduce(
      (all, one) => all.where(one),
      db.selectFrom('ledger').selectAll().select(message),
    );
    const found = await rows.orderBy('started_at', 'desc').orderBy(id, 'desc').limit(query.limit).execute();
    return found.map(callOfRow);
  };

  const refused = async (query: CallQuery): Promise<CallRecord[]> => {
    const where = refusedConditions(query);
    if (!where) return [];
    if (query.before) where.push(olderThan(sql.ref('created_at'), id, query.before));
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
      // PostgreSQL rejects U+0000, so no call can have such an id.
      if (callId.includes('\0')) return undefined;
      const of = <T extends 'ledger' | 'refusals'>(query: SelectQueryBuilder<BookSchema, T, object>) => {
        const one = query.where(sql`id`, '=', callId);
        return accountId === undefined ? one : one.where(sql`account_id`, '=', accountId);
      };
      const row = (await of(db.selectFrom('ledger').selectAll().select(message))
        .where('started_at', 'is not', null)
        .executeTakeFirst()) as ChargedRow | undefined;
      if (row) return callOfRow(row);
      const refusal = await of(db.selectFrom('refusals').selectAll()).executeTakeFirst();
      return refusal && refusedCall(refusal as Parameters<typeof refusedCall>[0]);
    },
  };
}

/** Filters of a query, without its page. */
export type CallFilter = Omit<CallQuery, 'before' | 'limit'>;

/** Conditions of a query of the ledger; undefined: no call in it matches. */
export function chargedConditions(query: CallFilter): Expression<SqlBool>[] | undefined {
  const { outcome, result } = query;
  if (result === 'refused' || outcome === 'refused') return undefined;
  const where = conditions(query, 'started_at');
  if (result === 'ok') where.push(sql<SqlBool>`outcome = 'complete'`);
  if (result === 'failed' || (outcome !== undefined && outcome !== 'complete')) where.push(FAILED);
  return where;
}

/** Conditions of a query of the refused calls; undefined: none of them matches. */
export function refusedConditions({ outcome, ...query }: CallFilter): Expression<SqlBool>[] | undefined {
  const isAsked = (query.result ?? 'refused') === 'refused' && (outcome ?? 'refused') === 'refused';
  return isAsked && query.upstream === undefined ? conditions(query, 'created_at') : undefined;
}

/** Query conditions for a table with the time received in column `time`. */
function conditions(
  { accountId, keyId, personId, model, endpoint, code, upstream, outcome, from, to }: CallFilter,
  time: 'started_at' | 'created_at',
): Expression<SqlBool>[] {
  // The index finds calls of a key by account.
  const ofKey = keyId && sql<number>`(select account_id from keys where keys.id = ${keyId})`;
  const exact = { account_id: accountId ?? ofKey, key_id: keyId, model, endpoint, code, upstream, outcome };
  const at = sql.ref(time);
  return [
    ...Object.entries(exact).flatMap(([column, value]) =>
      value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`],
    ),
    ...(personId === undefined ? [] : [ofPerson(accountId, personId)]),
    ...(from === undefined ? [] : [sql<SqlBool>`${at} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${at} <= ${to}`]),
  ];
}

function olderThan(time: Expression<unknown>, id: Expression<string>, { createdAt, id: of }: CallPlace) {
  return sql<SqlBool>`${time} <= ${createdAt} and (${time} < ${createdAt} or ${id} < ${of})`;
}

function newerFirst(a: CallPlace, b: CallPlace): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

/** A ledger row with the error message that is kept beside the ledger. */
type ChargedRow = LedgerRow & { readonly message: string | null };

function callOfRow({ message, ...row }: ChargedRow): CallRecord {
  const entry = ledgerEntry(row);
  return {
    id: row.id,
    createdAt: row.started_at ?? row.created_at,
    entry: message === null ? entry : { ...entry, message },
  };
}
