import { creditsNumber, creditsString, type Micro, micro } from './credits.ts';
import type { KeyRecord } from './key.ts';
import { periodEndsAt, timestamp } from './period.ts';

/** The fields of a Key object in the order of answers, then `can_manage` and `version` (specification section 2). */
export interface KeyView {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly prefix: string;
  readonly is_active: boolean;
  readonly expires_at: string | null;
  readonly allowed_models: readonly string[];
  readonly allowed_categories: readonly string[];
  readonly spending_limit: number | null;
  readonly spending_current: string;
  readonly spending_period: string;
  readonly active_hours: string;
  readonly allowed_ips: readonly string[];
  readonly allowed_origins: readonly string[];
  readonly blocked_countries: readonly string[];
  readonly webhook_url: string;
  readonly created_at: string;
  readonly can_manage: boolean;
  readonly version: number;
}

/** The answer to the creation of a key (specification section 2). */
export interface CreatedKeyView {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly key: string;
  readonly created_at: string;
  readonly _service: { readonly note: string };
}

/** `spentInPeriod` is what the key spent in the current period of its `spending_period`. */
export function keyView(key: KeyRecord, spentInPeriod: Micro): KeyView {
  return {
    id: key.id,
    name: key.name,
    description: key.description,
    prefix: key.prefix,
    is_active: key.isActive,
    expires_at: key.expiresAt === null ? null : timestamp(key.expiresAt),
    allowed_models: key.allowedModels,
    allowed_categories: key.allowedCategories,
    spending_limit: key.spendingLimit === null ? null : creditsNumber(key.spendingLimit),
    spending_current: creditsString(spentInPeriod),
    spending_period: key.spendingPeriod,
    active_hours: key.activeHours,
    allowed_ips: key.allowedIps,
    allowed_origins: key.allowedOrigins,
    blocked_countries: key.blockedCountries,
    webhook_url: key.webhookUrl,
    created_at: timestamp(key.createdAt),
    can_manage: key.canManage,
    version: key.version,
  };
}

/** The Key object of the calling key, and what it may still spend (specification section 2, "What a key sees"). */
export interface OwnKeyView extends KeyView {
  /** Limit less spent, at least 0; null: no limit. What calls in flight hold is not counted. */
  readonly limit_remaining: string | null;
  /** When `spending_current` begins at 0 again. */
  readonly period_ends_at: string;
  /** Of the account, in credits; only for a key that can manage. */
  readonly credits_balance?: number;
}

export function ownKeyView(key: KeyRecord, spentInPeriod: Micro, nowMs: number): OwnKeyView {
  const { spendingLimit: limit } = key;
  return {
    ...keyView(key, spentInPeriod),
    limit_remaining: limit === null ? null : creditsString(micro(Math.max(0, limit - spentInPeriod))),
    period_ends_at: periodEndsAt(nowMs, key.spendingPeriod),
  };
}

/** The one response that shows the value of a key. */
export function createdKeyView(key: KeyRecord, value: string): CreatedKeyView {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    key: value,
    created_at: timestamp(key.createdAt),
    _service: { note: 'Save this key now: it is not stored and will not be shown again.' },
  };
}
