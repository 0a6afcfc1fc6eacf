import type { Book } from './book.ts';
import type { Store } from './store.ts';

/** Rows of a statement, at eight parameters each: below the limit of either engine. */
const MAX_ROWS = 500;

export function objectQueries({ db }: Store): Pick<Book, 'rememberObjects' | 'objects'> {
  return {
    async rememberObjects(objects) {
      for (let from = 0; from < objects.length; from += MAX_ROWS) {
        const rows = objects.slice(from, from + MAX_ROWS).map((object) => ({
          account_id: object.accountId,
          upstream: object.upstream,
          id: object.id,
          kind: object.kind,
          key_id: object.keyId,
          model: object.model,
          tokens: object.tokens,
          created_at: object.createdAt,
        }));
        await db
          .insertInto('objects')
          .values(rows)
          .onConflict((conflict) => conflict.columns(['account_id', 'upstream', 'id']).doNothing())
          .execute();
      }
    },

    async objects(accountId, upstream, ids) {
      const found = [];
      for (let from = 0; from < ids.length; from += MAX_ROWS) {
        const rows = await db
          .selectFrom('objects')
          .selectAll()
          .where('account_id', '=', accountId)
          .where('upstream', '=', upstream)
          .where('id', 'in', ids.slice(from, from + MAX_ROWS))
          .execute();
        for (const row of rows) {
          found.push({
            accountId: row.account_id,
            upstream: row.upstream,
            id: row.id,
            kind: row.kind,
            keyId: row.key_id,
            model: row.model,
            tokens: row.tokens,
            createdAt: row.created_at,
          });
        }
      }
      return found;
    },
  };
}
