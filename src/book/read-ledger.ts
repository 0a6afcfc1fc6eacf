import { sql } from 'kysely';
import { refundId } from '../domain/ledger-entry.ts';
import type { Book } from './book.ts';
import { ledgerEntry } from './ledger-row.ts';
import type { Store } from './store.ts';

export function ledgerQueries({ db }: Store): Pick<Book, 'ledger' | 'entry' | 'charge'> {
  return {
    async ledger({ accountId, keyId, type, model, fromDay, toDay, before, limit }) {
      let query = db.selectFrom('ledger').selectAll().where('account_id', '=', accountId);
      if (keyId !== undefined) query = query.where('key_id', '=', keyId);
      if (type !== undefined) query = query.where('type', '=', type);
      // A literal, so that both engines can see that the index of what is no charge serves it.
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
