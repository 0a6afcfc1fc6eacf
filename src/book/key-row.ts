import { type RawBuilder, type SqlBool, sql, type Updateable } from 'kysely';
import { micro } from '../domain/credits.ts';
import type { KeyRecord } from '../domain/key.ts';
import { KEY_FIELDS, type KeyField } from '../domain/key-fields.ts';
import type { Kind } from '../domain/key-readers.ts';
import {
  KEY_FIELD_NAMES,
  type KeySettings,
  keyField,
  type SettingColumns,
  settingsBytes,
  type WireName,
} from '../domain/key-settings.ts';
import { type AuditedChange, writeAudit } from './audit.ts';
import type { KeyRow, KeysTable } from './schema.ts';
import type { Store, Trx } from './store.ts';

const FIELDS = KEY_FIELD_NAMES.map(
  (field) => [field, KEY_FIELDS[field].wire, KEY_FIELDS[field].type.kind] as const,
);

export function keyRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    prefix: row.prefix,
    hash: row.hash,
    previousHash: row.previous_hash,
    previousValidUntil: row.previous_hash === null ? null : row.previous_valid_until,
    ...settingsOf(row),
    personId: row.person_id,
    memberSpendingLimits: JSON.parse(row.member_limits),
    createdAt: row.created_at,
    version: row.version,
  };
}

function settingsOf(row: KeyRow): KeySettings {
  const settings: { [F in KeyField]?: unknown } = {};
  // Rows from before the column have null where no value is null.
  for (const [field, column, kind] of FIELDS)
    settings[field] =
      row[column] === null ? (keyField(field).fallback ?? null) : fromColumn(kind, row[column]);
  return settings as KeySettings;
}

function fromColumn(kind: Kind, stored: unknown): unknown {
  if (kind === 'list' || kind === 'limits') return JSON.parse(stored as string);
  if (kind === 'flag') return stored === 1;
  return kind === 'credits' ? micro(stored as number) : stored;
}

export function settingColumns(settings: KeySettings): SettingColumns & { readonly bytes: number } {
  const columns: { [W in WireName]?: unknown } = {};
  for (const [field, column, kind] of FIELDS) columns[column] = columnOf(kind, settings[field]);
  return { ...(columns as SettingColumns), bytes: settingsBytes(settings) };
}

function columnOf(kind: Kind, value: unknown): unknown {
  if (kind === 'list' || kind === 'limits') return JSON.stringify(value);
  return kind === 'flag' ? Number(value) : value;
}

/** The change expected another version of the key than the book has. */
export class VersionConflict extends Error {
  readonly current: number;

  constructor(current: number) {
    super(`the key is at version ${current}`);
    this.current = current;
  }
}

/** A key at an expected version; undefined: any. */
interface KeyAtVersion {
  readonly accountId: number;
  readonly keyId: number;
  readonly ifVersion: number | undefined;
}

/**
 * Applies `changeOf` to a key's row in one transaction with the row locked. Increments the version, unless `changeOf`
 * sets it; writes nothing if every column already has its value. Resolves with the rows before and after; undefined: no
 * such key in the account, or no change from `changeOf`. Changes nothing if it throws: VersionConflict, or an error of
 * `check`, which gets both rows.
 */
export function changeKeyRow(
  store: Store,
  { accountId, keyId, ifVersion }: KeyAtVersion,
  now: number,
  changeOf: (row: KeyRow) => Updateable<KeysTable> | undefined,
  check?: (trx: Trx, before: KeyRow, after: KeyRow) => Promise<void>,
): Promise<{ readonly before: KeyRow; readonly after: KeyRow } | undefined> {
  return store.transaction(async (trx) => {
    const found = trx
      .selectFrom('keys')
      .selectAll()
      .where('id', '=', keyId)
      .where('account_id', '=', accountId);
    const before = await store.lock(found).executeTakeFirst();
    if (!before) return undefined;
    if (ifVersion !== undefined && before.version !== ifVersion) throw new VersionConflict(before.version);
    const change = changeOf(before);
    if (!change) return undefined;
    if (isAlready(before, change)) return { before, after: before };
    const after = await trx
      .updateTable('keys')
      .set({ version: sql<number>`version + 1`, updated_at: now, ...change })
      .where('id', '=', keyId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await check?.(trx, before, after);
    return { before, after };
  });
}

/** Writes what was done with a key to the audit log. */
export function auditKey(
  trx: Trx,
  {
    key,
    ...done
  }: Omit<AuditedChange, 'accountId' | 'target'> & { readonly key: Pick<KeyRow, 'id' | 'account_id'> },
  now: number,
): Promise<void> {
  const target = { type: 'key', id: key.id } as const;
  return writeAudit(trx, { ...done, accountId: key.account_id, target }, now);
}

/** Whether a row is of a key of this person, in one account or in all. */
export function ofPerson(accountId: number | undefined, personId: number): RawBuilder<SqlBool> {
  const inAccount = accountId === undefined ? sql`` : sql`and account_id = ${accountId}`;
  return sql`key_id in (select id from keys where person_id = ${personId} ${inAccount})`;
}

function isAlready(row: KeyRow, change: Updateable<KeysTable>): boolean {
  return Object.entries(change).every(([column, value]) => row[column as keyof KeyRow] === value);
}

/** Columns of a key without a previous value. */
export const NO_PREVIOUS = { previous_hash: null, previous_valid_until: null } as const;
