import { sql } from 'kysely';
import { refundId } from '../domain/ledger-entry.ts';
import { accountQueries } from './accounts.ts';
import { alertQueries } from './alerts.ts';
import type { Book } from './book.ts';
import { chunks } from './bulk-values.ts';
import { callQueries } from './calls.ts';
import { grantQueries } from './grants.ts';
import { keyQueries } from './keys.ts';
import { ledgerEntry } from './ledger-row.ts';
import { postQueries } from './post.ts';
import { publicationQueries } from './publication.ts';
import { reconcileQueries } from './reconcile.ts';
import { refusalQueries } from './refusals.ts';
import { resourceQueries } from './resources.ts';
import { rotationQueries } from './rotation.ts';
import { snapshotQueries } from './snapshot.ts';
import type { Store } from './store.ts';
import { usageQueries } from './usage.ts';
import { usageByQueries } from './usage-by.ts';
import { usageOfAllQueries } from './usage-of-all.ts';

/** The book over a database whose schema is current. It owns the store from here on: `close` closes it. */
export async function sqlBook(store: Store): Promise<Book> {
  const { id } = await store.db.selectFrom('identity').select('id').executeTakeFirstOrThrow();
  return {
    id,
    async ping() {
      await sql`select 1`.execute(store.db);
    },
    close: () => store.db.destroy(),
    ...accountQueries(store),
    ...keyQueries(store),
    ...rotationQueries(store),
    ...publicationQueries(store),
    ...grantQueries(store),
    ...postQueries(store),
    ...snapshotQueries(store),
    ...ledgerQueries(store),
    ...lastCallQueries(store),
    ...usageQueries(store),
    ...usageOfAllQueries(store),
    ...usageByQueries(store),
    ...alertQueries(store),
    ...resourceQueries(store),
    ...reconcileQueries(store),
    ...refusalQueries(store),
    ...callQueries(store),
  };
}

/**
 * Queries of the latest call of keys. A call writes nothing for them: each key is one look at the end of the index
 * ledger_key, past the few refunds that were booked after the call.
 */
function lastCallQueries({ db }: Store): Pick<Book, 'lastCalls'> {
  return {
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
  };
}

function ledgerQueries({ db }: Store): Pick<Book, 'ledger' | 'entry' | 'charge'> {
  return {
    async ledger({ accountId, keyId, type, model, fromDay, toDay, before, limit }) {
      let query = db.selectFrom('ledger').selectAll().where('account_id', '=', accountId);
      if (keyId !== undefined) query = query.where('key_id', '=', keyId);
      if (type !== undefined) query = query.where('type', '=', type);
      // A literal, so that both planners can use the partial index on non-charges.
      if (type !== undefined && type !== 'charge') query = query.where('type', '!=', sql.lit('charge'));
      if (model !== undefined) query = query.where('model', '=', model);
      if (fromDay !== undefined) query = query.where('day', '>=', fromDay);
      if (toDay !== undefined) query = query.where('day', '<=', toDay);
      if (before !== undefined) query = query.where('seq', '<', before);
      const rows = await query.orderBy('seq', 'desc').limit(limit).execute();
      return rows.map(ledgerEntry);
    },

    async entry(accountId, id) {
      // PostgreSQL takes no U+0000, so that no entry can have such an id.
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
        .selectAll()
        .where('id', 'in', [id, refundId(id)])
        .where('account_id', '=', accountId)
        .execute();
      const row = rows.find((found) => found.id === id);
      return row && { entry: ledgerEntry(row), day: row.day, isRefunded: rows.length > 1 };
    },
  };
}
