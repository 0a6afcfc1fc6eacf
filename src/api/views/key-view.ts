import { creditsNumber, creditsString, type Micro, micro } from '../../domain/credits.ts';
import type { Category, KeyRecord, SpendingPeriod } from '../../domain/key.ts';
import { periodEndsAt, timestamp } from '../../domain/period.ts';

/**
 * A key as its account sees it: the fields in the order of specification section 2, then `can_manage` and `version`.
 */
export interface KeyView {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly prefix: string;
  readonly is_active: boolean;
  readonly expires_at: string | null;
  readonly allowed_models: readonly string[];
  readonly allowed_categories: readonly Category[];
  readonly spending_limit: number | null;
  /** Credits spent in the current period of `spending_period`, with six decimals. */
  readonly spending_current: string;
  readonly spending_period: SpendingPeriod;
  readonly active_hours: string;
  readonly allowed_ips: readonly string[];
  readonly allowed_origins: readonly string[];
  readonly blocked_countries: readonly string[];
  readonly webhook_url: string;
  readonly created_at: string;
  readonly can_manage: boolean;
  readonly version: number;
}

/** The answer to the creation of a key (specification section 2): the only one that shows its value. */
export interface CreatedKeyView {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly key: string;
  readonly created_at: string;
  readonly _service: { readonly note: string };
}

/** A list of keys by id, or a page of it. */
export interface KeyListView {
  readonly keys: readonly KeyView[];
  /** Value of `after` for the next page, null on the last page; absent where no `limit` was given. */
  readonly next?: string | null;
}

/** The view of a key. `spentInPeriod` is what it spent in the current period of its `spending_period`. */
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

/** A key as it sees itself, and what it may still spend (specification section 2, "What a key sees"). */
export interface OwnKeyView extends KeyView {
  /** Limit less spend, at least 0, without subtracting the holds of calls in flight; null where there is no limit. */
  readonly limit_remaining: string | null;
  /** Time at which `spending_current` begins at 0 again. */
  readonly period_ends_at: string;
  /** Balance of the account in credits; only for a key that can manage. */
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

/** The answer to the creation of a key. `value` is the key itself, which is stored nowhere. */
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
