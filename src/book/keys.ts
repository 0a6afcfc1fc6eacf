import { type Kysely, sql } from 'kysely';
import type { KeyRecord, KeySettings } from '../domain/key.ts';
import { MOST_KEY_BYTES } from '../domain/key-readers.ts';
import { settingsBytes } from '../domain/key-settings.ts';
import { changeKeyRow, keyRecord, NO_PREVIOUS, settingColumns } from './key-row.ts';
import { chunks } from './many-rows.ts';
import type { BookSchema, KeyRow } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** A key as it is first stored: settings plus the fields that the gateway sets. `hash` is the SHA-256 of the value, hex. */
export interface NewKey extends KeySettings {
  readonly hash: string;
  readonly prefix: string;
}

/** Bounds of the keys of one account, inactive ones included: none is ever removed. */
export interface KeyBounds {
  readonly maxKeys: number;
  /** Most bytes of the settings of all keys, as JSON in UTF-8. */
  readonly maxKeyBytes: number;
}

/** Thrown if the settings of a key would take more than MOST_KEY_BYTES. */
export class KeyTooLarge extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super(`the settings of the key would take ${bytes} bytes`);
    this.bytes = bytes;
  }
}
/** Thrown if an account may have no more keys, or its keys no longer settings. */
export class TooManyKeys extends Error {
  readonly bound: keyof KeyBounds;

  constructor(bound: keyof KeyBounds) {
    super(`the keys of the account are at the bound ${bound}`);
    this.bound = bound;
  }
}

/** The part of the book that stores the keys of accounts. */
export interface BookKeys {
  /** The key that has this hash, or had it before its last rotation; its record says until when. */
  keyByHash(hash: string): Promise<KeyRecord | undefined>;
  key(accountId: number, keyId: number): Promise<KeyRecord | undefined>;
  /**
   * Keys of the account with ids above `after` (default 0), by id ascending, inactive ones included. A page has at most
   * `limit` keys, at most 500, and fewer if their lists are long, so that it takes some 1 MiB. Empty: there are no more.
   */
  keys(accountId: number, after?: number, limit?: number): Promise<KeyRecord[]>;
  /** Names of keys, by id; ids that the book does not have are left out. */
  keyNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The ids among these that the book has. */
  keysAmong(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Throws TooManyKeys if the account has no room for the key. */
  createKey(accountId: number, key: NewKey, now: number, most?: KeyBounds): Promise<KeyRecord>;
  /**
   * Changes a key, whose version grows by one; if no setting differs, nothing is written and the version stays. Undefined:
   * the account has no such key. Throws VersionConflict if the key is at another version than `ifVersion`, KeyTooLarge, and
   * TooManyKeys if the account's keys would take more than `maxKeyBytes`; then nothing is changed. Neither bound refuses a
   * change by which the key does not grow. An inactive key has one value: that before its last rotation is forgotten.
   */
  updateKey(
    accountId: number,
    keyId: number,
    change: Partial<KeySettings>,
    now: number,
    ifVersion?: number,
    maxKeyBytes?: number,
  ): Promise<KeyRecord | undefined>;
  /** Whether any active key blocks a country: only then is country data worth its memory. */
  anyBlockedCountries(): Promise<boolean>;
}

export function keyQueries(store: Store): BookKeys {
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

    async keyNames(ids) {
      const found = new Map<number, string>();
      for (const chunk of chunks(ids)) {
        const rows = await db.selectFrom('keys').select(['id', 'name']).where('id', 'in', chunk).execute();
        for (const { id, name } of rows) found.set(id, name);
      }
      return found;
    },

    createKey: (accountId, key, now, most) =>
      most === undefined
        ? insertKey(db, accountId, key, now)
        : store.transaction(async (trx) => {
            const { count, bytes } = await keysTogether(store, trx, accountId);
            if (count >= most.maxKeys) throw new TooManyKeys('maxKeys');
            if (bytes + settingsBytes(key) > most.maxKeyBytes) throw new TooManyKeys('maxKeyBytes');
            return await insertKey(trx, accountId, key, now);
          }),

    async updateKey(accountId, keyId, change, now, ifVersion, maxKeyBytes = Infinity) {
      const changeOf = (row: KeyRow) => {
        const settings = { ...keyRecord(row), ...change };
        // A key that is deactivated keeps its newest value only: no older one returns with it.
        const isEnd = !settings.isActive && row.previous_hash !== null;
        return { ...settingColumns(settings), ...(isEnd ? NO_PREVIOUS : {}) };
      };
      const mayGrow = async (trx: Trx, before: KeyRow, after: KeyRow) => {
        if (after.bytes <= before.bytes) return;
        if (after.bytes > MOST_KEY_BYTES) throw new KeyTooLarge(after.bytes);
        const { bytes } = await keysTogether(store, trx, accountId);
        if (bytes > maxKeyBytes) throw new TooManyKeys('maxKeyBytes');
      };
      const which = { accountId, keyId, ifVersion };
      const changed = await changeKeyRow(store, which, now, changeOf, mayGrow);
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

/**
 * Number and bytes of the keys of an account. Its row is locked first, so that of two changes at once the second counts
 * what the first has made.
 */
async function keysTogether(
  store: Store,
  trx: Trx,
  accountId: number,
): Promise<{ count: number; bytes: number }> {
  await store.lock(trx.selectFrom('accounts').select('id').where('id', '=', accountId)).execute();
  return await trx
    .selectFrom('keys')
    .select(({ fn }) => [
      fn.count<number>('id').as('count'),
      sql<number>`coalesce(sum(bytes), 0)`.as('bytes'),
    ])
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
}

/** Most keys of a page, and most bytes of their settings: they bound the memory of a caller who reads all keys. */
const PAGE = 500;
const PAGE_BYTES = 1_048_576;

/** Ids of the next keys whose bytes fit into a page, one at least. */
function pageIds(accountId: number, after: number, limit: number) {
  return sql<number>`(select id from (
      select id, sum(bytes) over (order by id) - bytes as before from (
        select id, bytes from keys where account_id = ${accountId} and id > ${after} order by id limit ${limit}
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
