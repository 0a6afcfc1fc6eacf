import { creditsNumber, creditsString, type Micro, micro } from '../../domain/credits.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { periodEndsAt, timestamp } from '../../domain/period.ts';
import type { Static } from '../docs/json-type.ts';
import type { CreatedKey, Key, KeyList, OwnKey } from '../key-schema.ts';
import type { RotatedKey } from '../rotation-schema.ts';
import { callLimitsView } from './call-limits-view.ts';

/** A key as its account sees it. */
export type KeyView = Static<typeof Key>;
/** A key as it sees itself, and what it may still spend (specification section 2, "What a key sees"). */
export type OwnKeyView = Static<typeof OwnKey>;
/** A list of keys by id, or a page of it. */
export type KeyListView = Static<typeof KeyList>;
/** The answer to the creation of a key (specification section 2): the only one that shows its value. */
export type CreatedKeyView = Static<typeof CreatedKey>;
/** The answer to a rotation (specification section 2): the new value, and until when the previous one is valid. */
export type RotatedKeyView = Static<typeof RotatedKey>;

/** Use of a key, which its view shows beside its record. */
export interface KeyUse {
  /** Credits spent in the current period of its `spending_period`. */
  readonly spentInPeriod: Micro;
  /** Time of its latest call in the ledger, in milliseconds since the epoch; undefined: it has none. */
  readonly lastUsedAt: number | undefined;
}

/** The view of a key at `redisNow`, in milliseconds by Redis' clock, which ends the previous value. */
export function keyView(key: KeyRecord, { spentInPeriod, lastUsedAt }: KeyUse, redisNow: number): KeyView {
  const { previousValidUntil } = key;
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
    ...callLimitsView(key),
    last_used_at: lastUsedAt === undefined ? null : timestamp(lastUsedAt),
    previous_valid_until:
      previousValidUntil === null || previousValidUntil <= redisNow ? null : timestamp(previousValidUntil),
  };
}

/** The view of a key for itself at `redisNow`, as for `keyView`; its period is that of `nowMs`, this machine's time. */
export function ownKeyView(key: KeyRecord, use: KeyUse, redisNow: number, nowMs: number): OwnKeyView {
  const { spendingLimit: limit } = key;
  return {
    ...keyView(key, use, redisNow),
    limit_remaining: limit === null ? null : creditsString(micro(Math.max(0, limit - use.spentInPeriod))),
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

/** The answer to a rotation. `value` is the new one. */
export function rotatedKeyView(key: KeyRecord, value: string): RotatedKeyView {
  const { previousValidUntil: until } = key;
  return {
    ...createdKeyView(key, value),
    previous_valid_until: until === null ? null : timestamp(until),
  };
}
