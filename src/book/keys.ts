import { type Kysely, sql } from 'kysely';
import type { KeyRecord } from '../domain/key.ts';
import { type Book, type NewKey, TooManyKeys } from './book.ts';
import { chunks } from './bulk-values.ts';
import { changeKeyRow } from './change-key-row.ts';
import { keyRecord, settingColumns } from './key-row.ts';
import { NO_PREVIOUS } from './rotation.ts';
import type { BookSchema } from './schema.ts';
import type { Store } from './store.ts';

type Keys = Pick<
  Book,
  'keyByHash' | 'key' | 'keys' | 'keysAmong' | 'createKey' | 'updateKey' | 'anyBlockedCountries'
>;

export function keyQueries(store: Store): Keys {
  const { db } = store;
  return {
    async keyByHash(hash) {
      const row = await db
        .selectFrom('keys')
        .selectAll()
        .where((eb) => eb.or([eb('hash', '=', hash), eb('previous_hash', '=', hash)]))
        .executeTakeFirst();
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

    async keys(accountId, after = 0, limit = PAGE) {
      const rows = await db
        .selectFrom('keys')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('id', 'in', pageIds(accountId, after, Math.min(limit, PAGE)))
        .orderBy('id')
        .execute();
      return rows.map(keyRecord);
    },

    async keysAmong(ids) {
      const found = new Set<number>();
      for (const chunk of chunks(ids)) {
        const rows = await db.selectFrom('keys').select('id').where('id', 'in', chunk).execute();
        for (const { id } of rows) found.add(id);
      }
      return found;
    },

    createKey: (accountId, key, now, most) =>
      most === undefined
        ? insertKey(db, accountId, key, now)
        : store.transaction(async (trx) => {
            // Locked first, so that of two creations at once the second counts what the first has made.
            await store.lock(trx.selectFrom('accounts').select('id').where('id', '=', accountId)).execute();
            const { count } = await trx
              .selectFrom('keys')
              .select(({ fn }) => fn.count<number>('id').as('count'))
              .where('account_id', '=', accountId)
              .executeTakeFirstOrThrow();
            if (count >= most) throw new TooManyKeys('The account has as many keys as it may.');
            return await insertKey(trx, accountId, key, now);
          }),

    async updateKey(accountId, keyId, change, now, ifVersion) {
      const changed = await changeKeyRow(store, { accountId, keyId, ifVersion }, now, (row) => {
        const settings = { ...keyRecord(row), ...change };
        // A key that is deactivated keeps its newest value only: no older one returns with it.
        const isEnd = !settings.isActive && row.previous_hash !== null;
        return { ...settingColumns(settings), ...(isEnd ? NO_PREVIOUS : {}) };
      });
      return changed && keyRecord(changed.after);
    },

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

/** Most keys of a page, and most bytes of their lists: they bound the memory of a caller who reads all keys. */
const PAGE = 500;
const PAGE_BYTES = 1_048_576;

/** Ids of the next keys whose bytes fit into a page, one at least. Sizes are read without the texts. */
function pageIds(accountId: number, after: number, limit: number) {
  return sql<number>`(select id from (
      select id, sum(size) over (order by id) - size as before from (
        select id, octet_length(allowed_models) + octet_length(allowed_ips) + octet_length(allowed_origins)
          + octet_length(blocked_countries) + octet_length(description) + octet_length(webhook_url) as size
        from keys where account_id = ${accountId} and id > ${after} order by id limit ${limit}
      ) as sizes
    ) as sums where before < ${sql.lit(PAGE_BYTES)})`;
}

/** Inserts a key, whose id and version the database gives. */
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
