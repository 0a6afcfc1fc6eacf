import { type Kysely, sql } from 'kysely';
import type { KeyRecord } from '../domain/key.ts';
import { type Book, type NewKey, VersionConflict } from './book.ts';
import { keyRecord, settingColumns } from './key-row.ts';
import type { BookSchema } from './schema.ts';
import type { Store } from './store.ts';

type Keys = Pick<Book, 'keyByHash' | 'key' | 'keys' | 'createKey' | 'updateKey' | 'anyBlockedCountries'>;

export function keyQueries(store: Store): Keys {
  const { db } = store;
  return {
    async keyByHash(hash) {
      const row = await db.selectFrom('keys').selectAll().where('hash', '=', hash).executeTakeFirst();
      return row && keyRecord(row);
    },

    async key(accountId, keyId) {
      const row = await db
        .selectFrom('keys')
        .selectAll()
        .where('id', '=', keyId)
        .where('account_id', '=', accountId)
        .executeTakeFirst();
      return row && keyRecord(row);
    },

    async keys(accountId) {
      const rows = await db
        .selectFrom('keys')
        .selectAll()
        .where('account_id', '=', accountId)
        .orderBy('id')
        .execute();
      return rows.map(keyRecord);
    },

    createKey: (accountId, key, now) => insertKey(db, accountId, key, now),

    updateKey: (accountId, keyId, change, now, ifVersion) =>
      store.transaction(async (trx) => {
        const found = trx
          .selectFrom('keys')
          .selectAll()
          .where('id', '=', keyId)
          .where('account_id', '=', accountId);
        const row = await store.lock(found).executeTakeFirst();
        if (!row) return undefined;
        if (ifVersion !== undefined && row.version !== ifVersion) throw new VersionConflict(row.version);
        const changed = await trx
          .updateTable('keys')
          .set({
            ...settingColumns({ ...keyRecord(row), ...change }),
            version: sql<number>`version + 1`,
            updated_at: now,
          })
          .where('id', '=', keyId)
          .returningAll()
          .executeTakeFirstOrThrow();
        return keyRecord(changed);
      }),

    async anyBlockedCountries() {
      const row = await db
        .selectFrom('keys')
        .select('id')
        // Literals, so that both engines can see that the index of such keys serves it.
        .where('is_active', '=', sql.lit(1))
        .where('blocked_countries', '!=', sql.lit('[]'))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

export async function insertKey(
  db: Kysely<BookSchema>,
  accountId: number,
  key: NewKey,
  now: number,
): Promise<KeyRecord> {
  const row = await db
    .insertInto('keys')
    .values({
      ...settingColumns(key),
      account_id: accountId,
      hash: key.hash,
      prefix: key.prefix,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return keyRecord(row);
}
