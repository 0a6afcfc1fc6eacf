import { sql } from 'kysely';
import { type Actor, SYSTEM } from '../domain/actor.ts';
import { micro } from '../domain/credits.ts';
import type { KeyRecord, KeySettings } from '../domain/key.ts';
import { MOST_KEY_BYTES } from '../domain/key-readers.ts';
import { settingsBytes } from '../domain/key-settings.ts';
import type { SpendingPeriod } from '../domain/period.ts';
import type { SpendingLimit } from '../domain/spending-limits.ts';
import { wireSettings } from '../domain/wire-settings.ts';
import { difference } from './audit.ts';
import { auditKey, changeKeyRow, keyRecord, NO_PREVIOUS, settingColumns } from './key-row.ts';
import { chunks } from './many-rows.ts';
import { requireActiveMember } from './membership-row.ts';
import type { KeyRow } from './schema.ts';
import { endSessionsOfKeys } from './sessions.ts';
import type { Store, Trx } from './store.ts';

/** A new key: settings plus the fields set by the gateway. `hash` is the SHA-256 of the value, hex. */
export interface NewKey extends KeySettings {
  readonly hash: string;
  readonly prefix: string;
  /** Default: null, a key of the account. */
  readonly personId?: number | null;
  /** Default: those of the person's membership, which must be active. */
  readonly memberSpendingLimits?: readonly SpendingLimit[];
}

/** Bounds for the keys of one account, including inactive ones, since keys are never removed. */
export interface KeyBounds {
  readonly maxKeys: number;
  /** Most bytes of the settings of all keys, as JSON in UTF-8. */
  readonly maxKeyBytes: number;
}

/** The settings of a key would exceed MOST_KEY_BYTES. */
export class KeyTooLarge extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super(`the settings of the key would take ${bytes} bytes`);
    this.bytes = bytes;
  }
}
/** The account may not have more keys, or more bytes of key settings. */
export class TooManyKeys extends Error {
  readonly bound: keyof KeyBounds;

  constructor(bound: keyof KeyBounds) {
    super(`the keys of the account are at the bound ${bound}`);
    this.bound = bound;
  }
}

/** A change of a key, or what makes one of the key as it is. */
export type KeyChange = Partial<KeySettings> | ((key: KeyRecord) => Partial<KeySettings>);

/** The name of a key, and whose it is. */
export interface KeyName {
  readonly name: string;
  readonly accountId: number;
}

/** Which keys of an account a list has; absent fields match every key. */
export interface KeyFilter {
  readonly personId?: number | undefined;
  /** Text in the name, the description or the start of the value, in any case. */
  readonly search?: string | undefined;
  readonly isActive?: boolean | undefined;
  /** Milliseconds since the epoch: only keys that expire by then. */
  readonly expiredAt?: number | undefined;
}

/** An active key with spending limits of its own. */
export type LimitedKey = Pick<
  KeyRecord,
  'id' | 'name' | 'personId' | 'spendingLimit' | 'spendingPeriod' | 'spendingLimits'
>;

/** Stores the keys of accounts. */
export interface BookKeys {
  /** The key whose current or previous value has this hash; the record has the expiry of the previous one. */
  keyByHash(hash: string): Promise<KeyRecord | undefined>;
  key(accountId: number, keyId: number): Promise<KeyRecord | undefined>;
  /**
   * Keys of the account with ids above `after` (default 0), by id ascending, including inactive ones. A page has at most
   * `limit` keys, at most 500, and fewer if their lists are long, to stay near 1 MiB. Empty: no more keys.
   */
  keys(accountId: number, after?: number, limit?: number, filter?: KeyFilter): Promise<KeyRecord[]>;
  /** Active keys with spending limits and ids above `after`, by id ascending, at most 500. Empty: no more. */
  limitedKeys(accountId: number, after: number, personId?: number): Promise<LimitedKey[]>;
  /** Names and accounts of keys, by id; unknown ids are omitted. */
  keyNames(ids: readonly number[]): Promise<ReadonlyMap<number, KeyName>>;
  /** Returns those of the ids that the book has. */
  keysAmong(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Numbers of keys of these people in the account, including inactive ones, by person; people without one are omitted. */
  keyCounts(accountId: number, personIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Throws TooManyKeys if the account has no room for the key, and `member_inactive` if its person is no active member. */
  createKey(accountId: number, key: NewKey, now: number, most?: KeyBounds, by?: Actor): Promise<KeyRecord>;
  /**
   * Changes a key and increments its version; without a difference, writes nothing and keeps the version. Undefined:
   * the account has no such key. Changes nothing if it throws: VersionConflict if the version differs from `ifVersion`,
   * KeyTooLarge, or TooManyKeys if the account's keys would exceed `maxKeyBytes`. Neither bound refuses a change that
   * doesn't enlarge the key. A deactivated key loses the value before its last rotation. `change` can be a function of
   * the key as it is, which may throw. Throws `member_inactive` for a person's key that becomes active without an active
   * membership.
   */
  updateKey(
    accountId: number,
    keyId: number,
    change: KeyChange,
    now: number,
    ifVersion?: number,
    maxKeyBytes?: number,
    by?: Actor,
    action?: 'key.update' | 'key.delete',
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

    async keys(accountId, after = 0, limit = PAGE, filter = {}) {
      const rows = await db
        .selectFrom('keys')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('id', 'in', pageIds(accountId, after, Math.min(limit, PAGE), filter))
        .orderBy('id')
        .execute();
      return rows.map(keyRecord);
    },

    async limitedKeys(accountId, after, personId) {
      let limited = db
        .selectFrom('keys')
        .select(['id', 'name', 'person_id', 'spending_limit', 'spending_period', 'spending_limits'])
        .where('account_id', '=', accountId)
        .where('id', '>', after)
        .where('is_active', '=', 1)
        .where((where) =>
          where.or([where('spending_limit', 'is not', null), where('spending_limits', '!=', '[]')]),
        );
      if (personId !== undefined) limited = limited.where('person_id', '=', personId);
      const rows = await limited.orderBy('id').limit(PAGE).execute();
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        personId: row.person_id,
        spendingLimit: row.spending_limit === null ? null : micro(row.spending_limit),
        spendingPeriod: row.spending_period as SpendingPeriod,
        spendingLimits: JSON.parse(row.spending_limits) as SpendingLimit[],
      }));
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
      const found = new Map<number, KeyName>();
      for (const chunk of chunks(ids)) {
        const rows = await db
          .selectFrom('keys')
          .select(['id', 'name', 'account_id as accountId'])
          .where('id', 'in', chunk)
          .execute();
        for (const { id, name, accountId } of rows) found.set(id, { name, accountId });
      }
      return found;
    },

    async keyCounts(accountId, personIds) {
      const counts = new Map<number, number>();
      for (const chunk of chunks(personIds)) {
        const rows = await db
          .selectFrom('keys')
          .select(({ fn }) => ['person_id', fn.count<number>('id').as('count')])
          .where('account_id', '=', accountId)
          .where('person_id', 'in', chunk)
          .groupBy('person_id')
          .execute();
        for (const { person_id, count } of rows) counts.set(Number(person_id), count);
      }
      return counts;
    },

    createKey: (accountId, key, now, most, by = SYSTEM) =>
      store.transaction(async (trx) => {
        if (most !== undefined) {
          const { count, bytes } = await keysTogether(store, trx, accountId);
          if (count >= most.maxKeys) throw new TooManyKeys('maxKeys');
          if (bytes + settingsBytes(key) > most.maxKeyBytes) throw new TooManyKeys('maxKeyBytes');
        }
        const { personId = null } = key;
        if (personId === null || key.memberSpendingLimits)
          return await insertKey(trx, accountId, key, now, by);
        const { spendingLimits } = await requireActiveMember(store, trx, accountId, personId);
        return await insertKey(trx, accountId, { ...key, memberSpendingLimits: spendingLimits }, now, by);
      }),

    async updateKey(
      accountId,
      keyId,
      change,
      now,
      ifVersion,
      maxKeyBytes = Infinity,
      by = SYSTEM,
      action = 'key.update',
    ) {
      const changeOf = (row: KeyRow) => {
        const key = keyRecord(row);
        const settings = { ...key, ...(typeof change === 'function' ? change(key) : change) };
        // A deactivated key keeps only its newest value, so no older one returns on reactivation.
        const isEnd = !settings.isActive && row.previous_hash !== null;
        return { ...settingColumns(settings), ...(isEnd ? NO_PREVIOUS : {}) };
      };
      const mayGrow = async (trx: Trx, before: KeyRow, after: KeyRow) => {
        if (after.bytes <= before.bytes) return;
        if (after.bytes > MOST_KEY_BYTES) throw new KeyTooLarge(after.bytes);
        const { bytes } = await keysTogether(store, trx, accountId);
        if (bytes > maxKeyBytes) throw new TooManyKeys('maxKeyBytes');
      };
      const check = async (trx: Trx, before: KeyRow, after: KeyRow) => {
        await mayGrow(trx, before, after);
        const isActivation = before.is_active === 0 && after.is_active === 1;
        if (isActivation && after.person_id !== null) {
          await requireActiveMember(store, trx, accountId, after.person_id);
        }
        if (before.is_active === 1 && after.is_active === 0) await endSessionsOfKeys(trx, [keyId]);
        const changed = difference(wireSettings(keyRecord(before)), wireSettings(keyRecord(after)));
        await auditKey(trx, { by, action, key: after, ...changed }, now);
      };
      const which = { accountId, keyId, ifVersion };
      const changed = await changeKeyRow(store, which, now, changeOf, check);
      return changed && keyRecord(changed.after);
    },

    async anyBlockedCountries() {
      const row = await db
        .selectFrom('keys')
        .select('id')
        // Literals, so both engines can use the index of such keys.
        .where('is_active', '=', sql.lit(1))
        .where('blocked_countries', '!=', sql.lit('[]'))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/**
 * Sets the spending limits of a membership in all keys of the person in the account, and increments their versions.
 * Returns their records, to be published after the commit; `trx` changes the membership too.
 */
export async function setMemberLimits(
  trx: Trx,
  accountId: number,
  personId: number,
  limits: readonly SpendingLimit[],
  now: number,
): Promise<KeyRecord[]> {
  const rows = await trx
    .updateTable('keys')
    .set({ member_limits: JSON.stringify(limits), version: sql<number>`version + 1`, updated_at: now })
    .where('account_id', '=', accountId)
    .where('person_id', '=', personId)
    .returningAll()
    .execute();
  return rows.map(keyRecord);
}

/**
 * Number and bytes of an account's keys. Locks the account row, so of two concurrent changes the second counts the
 * first.
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

/** Most keys per page, and most bytes of their settings: bounds the memory of callers that read all keys. */
const PAGE = 500;
const PAGE_BYTES = 1_048_576;

/** Ids of the next keys whose bytes fit into a page, at least one. */
function pageIds(accountId: number, after: number, limit: number, filter: KeyFilter) {
  return sql<number>`(select id from (
      select id, sum(bytes) over (order by id) - bytes as before from (
        select id, bytes from keys where account_id = ${accountId} and id > ${after} ${matching(filter)} order by id limit ${limit}
      ) as sizes
    ) as sums where before < ${sql.lit(PAGE_BYTES)})`;
}

function matching({ personId, search, isActive, expiredAt }: KeyFilter) {
  const text = `%${search?.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const isFound = sql.join(
    ['name', 'description', 'prefix'].map(
      (column) => sql`lower(${sql.ref(column)}) like lower(${text}) escape '\\'`,
    ),
    sql` or `,
  );
  return sql`${personId === undefined ? sql`` : sql`and person_id = ${personId}`}
    ${search === undefined ? sql`` : sql`and (${isFound})`}
    ${isActive === undefined ? sql`` : sql`and is_active = ${Number(isActive)}`}
    ${expiredAt === undefined ? sql`` : sql`and expires_at <= ${expiredAt}`}`;
}

/** Inserts a key; the database sets its id and version. */
export async function insertKey(
  trx: Trx,
  accountId: number,
  key: NewKey,
  now: number,
  by: Actor,
): Promise<KeyRecord> {
  const row = await trx
    .insertInto('keys')
    .values({
      ...settingColumns(key),
      account_id: accountId,
      hash: key.hash,
      prefix: key.prefix,
      person_id: key.personId ?? null,
      member_limits: JSON.stringify(key.memberSpendingLimits ?? []),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const record = keyRecord(row);
  await auditKey(
    trx,
    {
      by,
      action: 'key.create',
      key: row,
      after: { ...wireSettings(record), ...(row.person_id !== null && { person_id: row.person_id }) },
    },
    now,
  );
  return record;
}
