import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { BookCalls, CallPlace, CallQuery, CallRecord } from './book-calls.ts';
import { ledgerEntry } from './ledger-row.ts';
import { refusedCall } from './refusals.ts';
import type { BookSchema, LedgerRow } from './schema.ts';
import type { Store } from './store.ts';

/** A literal, so that both engines see that the index of calls that failed serves it. */
const FAILED = sql<SqlBool>`(outcome is null or outcome <> 'complete')`;

/**
 * The list of calls is merged from two tables: calls that reached an upstream are ledger entries, and refused ones are not. Both
 * are in the order of the time when they came in.
 */
export function callQueries(store: Store): Pick<BookCalls, 'calls' | 'call'> {
  const { db, engine } = store;
  // Ids are compared as the merge compares them, by code units.
  const id = engine === 'postgres' ? sql<string>`id collate "C"` : sql<string>`id`;

  const charged = async (query: CallQuery): Promise<CallRecord[]> => {
    const { accountId, keyId, model, endpoint, code, outcome, result, upstream, from, to, before } = query;
    if (result === 'refused' || outcome === 'refused') return [];
    let rows = db.selectFrom('ledger').selectAll();
    // SQLite would take it for a second bound of the time, and so prefer the index of all calls to that of a filter.
    const isBounded = from !== undefined || to !== undefined || before !== undefined;
    if (!isBounded) rows = rows.where('started_at', 'is not', null);
    if (accountId !== undefined) rows = rows.where('account_id', '=', accountId);
    else if (keyId !== undefined) rows = rows.where('account_id', '=', accountOf(keyId));
    if (keyId !== undefined) rows = rows.where('key_id', '=', keyId);
    if (model !== undefined) rows = rows.where('model', '=', model);
    if (endpoint !== undefined) rows = rows.where('endpoint', '=', endpoint);
    if (code !== undefined) rows = rows.where('code', '=', code);
    if (upstream !== undefined) rows = rows.where('upstream', '=', upstream);
    if (outcome !== undefined) rows = rows.where('outcome', '=', outcome);
    if (result === 'ok') rows = rows.where('outcome', '=', 'complete');
    if (result === 'failed' || (outcome !== undefined && outcome !== 'complete')) rows = rows.where(FAILED);
    if (from !== undefined) rows = rows.where('started_at', '>=', from);
    if (to !== undefined) rows = rows.where('started_at', '<=', to);
    if (before) rows = rows.where(olderThan(sql`started_at`, id, before));
    const found = await rows.orderBy('started_at', 'desc').orderBy(id, 'desc').limit(query.limit).execute();
    return found.map(callOfRow);
  };

  const refused = async (query: CallQuery): Promise<CallRecord[]> => {
    const { accountId, keyId, model, endpoint, code, outcome, result, upstream, from, to, before } = query;
    if (upstream !== undefined) return [];
    if ((result ?? 'refused') !== 'refused' || (outcome ?? 'refused') !== 'refused') return [];
    let rows = db.selectFrom('refusals').selectAll();
    if (accountId !== undefined) rows = rows.where('account_id', '=', accountId);
    else if (keyId !== undefined) rows = rows.where('account_id', '=', accountOf(keyId));
    if (keyId !== undefined) rows = rows.where('key_id', '=', keyId);
    if (model !== undefined) rows = rows.where('model', '=', model);
    if (endpoint !== undefined) rows = rows.where('endpoint', '=', endpoint);
    if (code !== undefined) rows = rows.where(sql<string>`code`, '=', code);
    if (from !== undefined) rows = rows.where('created_at', '>=', from);
    if (to !== undefined) rows = rows.where('created_at', '<=', to);
    if (before) rows = rows.where(olderThan(sql`created_at`, id, before));
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

/** The account of a key, whose calls are found by the account. */
function accountOf(keyId: number) {
  return sql<number>`(select account_id from keys where keys.id = ${keyId})`;
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
