import type { Insertable } from 'kysely';
import type { CallLimits } from '../domain/call-limits.ts';
import { micro } from '../domain/credits.ts';
import type { Category, KeyRecord, KeySettings } from '../domain/key.ts';
import type { CallLimitColumns, KeyRow, KeysTable } from './schema.ts';

/** The record of a key as its row has it. */
export function keyRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    description: row.description,
    prefix: row.prefix,
    hash: row.hash,
    previousHash: row.previous_hash,
    previousValidUntil: row.previous_hash === null ? null : row.previous_valid_until,
    isActive: row.is_active === 1,
    canManage: row.can_manage === 1,
    expiresAt: row.expires_at,
    allowedModels: list<string>(row.allowed_models),
    allowedCategories: list<Category>(row.allowed_categories),
    spendingLimit: row.spending_limit === null ? null : micro(row.spending_limit),
    spendingPeriod: row.spending_period,
    ...callLimits(row),
    activeHours: row.active_hours,
    allowedIps: list<string>(row.allowed_ips),
    allowedOrigins: list<string>(row.allowed_origins),
    blockedCountries: list<string>(row.blocked_countries),
    webhookUrl: row.webhook_url,
    createdAt: row.created_at,
    version: row.version,
  };
}

/** The limits of calls in a row of a key or an account. */
export function callLimits(row: CallLimitColumns): CallLimits {
  return {
    rpmLimit: row.rpm_limit,
    tpmLimit: row.tpm_limit,
    maxParallelRequests: row.max_parallel_requests,
  };
}

type SettingColumns = Omit<
  Insertable<KeysTable>,
  | 'id'
  | 'account_id'
  | 'hash'
  | 'prefix'
  | 'previous_hash'
  | 'previous_valid_until'
  | 'version'
  | 'published_version'
  | 'created_at'
  | 'updated_at'
>;

/** The columns of the settings of a key. */
export function settingColumns(settings: KeySettings): SettingColumns {
  return {
    name: settings.name,
    description: settings.description,
    is_active: Number(settings.isActive),
    can_manage: Number(settings.canManage),
    expires_at: settings.expiresAt,
    allowed_models: JSON.stringify(settings.allowedModels),
    allowed_categories: JSON.stringify(settings.allowedCategories),
    spending_limit: settings.spendingLimit,
    spending_period: settings.spendingPeriod,
    rpm_limit: settings.rpmLimit,
    tpm_limit: settings.tpmLimit,
    max_parallel_requests: settings.maxParallelRequests,
    active_hours: settings.activeHours,
    allowed_ips: JSON.stringify(settings.allowedIps),
    allowed_origins: JSON.stringify(settings.allowedOrigins),
    blocked_countries: JSON.stringify(settings.blockedCountries),
    webhook_url: settings.webhookUrl,
  };
}

/** Parses a list that `settingColumns` wrote. */
function list<T>(json: string): T[] {
  return JSON.parse(json);
}
