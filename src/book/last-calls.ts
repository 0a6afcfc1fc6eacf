import type { Book } from './book.ts';
import { chunks } from './bulk-values.ts';
import type { Store } from './store.ts';

/**
 * Queries of the latest call of keys. A call writes nothing for them: each key is one look at the end of the index
 * ledger_key, past the few refunds that were booked after the call.
 */
export function lastCallQueries({ db }: Store): Pick<Book, 'lastCalls'> {
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
