import type { CallLimits } from '../domain/call-limits.ts';
import { micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import { KEY_FIELDS, type KeyField } from '../domain/key-fields.ts';
import type { Kind } from '../domain/key-readers.ts';
import {
  KEY_FIELD_NAMES,
  type KeySettings,
  type SettingColumns,
  settingsBytes,
  type WireName,
} from '../domain/key-settings.ts';
import type { AccountRow, CallLimitColumns, KeyRow } from './schema.ts';

const FIELDS = KEY_FIELD_NAMES.map(
  (field) => [field, KEY_FIELDS[field].wire, KEY_FIELDS[field].type.kind] as const,
);

/** The record of a key as its row has it. */
export function keyRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    prefix: row.prefix,
    hash: row.hash,
    previousHash: row.previous_hash,
    previousValidUntil: row.previous_hash === null ? null : row.previous_valid_until,
    ...settingsOf(row),
    createdAt: row.created_at,
    version: row.version,
  };
}

function settingsOf(row: KeyRow): KeySettings {
  const settings: { [F in KeyField]?: unknown } = {};
  for (const [field, column, kind] of FIELDS) settings[field] = fromColumn(kind, row[column]);
  return settings as KeySettings;
}

function fromColumn(kind: Kind, stored: unknown): unknown {
  if (kind === 'list') return JSON.parse(stored as string);
  if (kind === 'flag') return stored === 1;
  return kind === 'credits' && stored !== null ? micro(stored as number) : stored;
}

/** The limits of calls in a row of a key or an account. */
export function callLimits(row: CallLimitColumns): CallLimits {
  return {
    rpmLimit: row.rpm_limit,
    tpmLimit: row.tpm_limit,
    maxParallelRequests: row.max_parallel_requests,
  };
}

/** The columns of the settings of a key. */
export function settingColumns(settings: KeySettings): SettingColumns & { readonly bytes: number } {
  const columns: { [W in WireName]?: unknown } = {};
  for (const [field, column, kind] of FIELDS) columns[column] = columnOf(kind, settings[field]);
  return { ...(columns as SettingColumns), bytes: settingsBytes(settings) };
}

function columnOf(kind: Kind, value: unknown): unknown {
  if (kind === 'list') return JSON.stringify(value);
  return kind === 'flag' ? Number(value) : value;
}

/** The record of an account as its row has it. */
export function accountRecord(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    email: row.email,
    isActive: row.is_active === 1,
    alertThreshold: micro(row.alert_threshold),
    overdraft: micro(row.overdraft),
    ...callLimits(row),
    webhookSecret: row.webhook_secret,
    createdAt: row.created_at,
    version: row.version,
  };
}

/** The form of an e-mail address that is unique: two addresses with one form belong to one account. */
export function emailKey(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
