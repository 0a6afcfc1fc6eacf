import { CALL_LIMIT_FIELDS, type CallLimits } from '../../domain/call-limits.ts';
import { creditsNumber, creditsString, type Micro, micro } from '../../domain/credits.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { KEY_FIELDS } from '../../domain/key-fields.ts';
import type { Kind } from '../../domain/key-readers.ts';
import {
  KEY_FIELD_NAMES,
  type KeySettings,
  type WireName,
  type WireSettings,
} from '../../domain/key-settings.ts';
import { periodEndsAt, timestamp } from '../../domain/period.ts';
import type { callLimitSchemas } from '../openapi/fields.ts';
import type { ObjectSchema, Static } from '../openapi/json-type.ts';
import type { CreatedKey, Key, KeyList, OwnKey, RotatedKey } from './key-schema.ts';

/** A key as its account sees it. */
export type KeyView = Static<typeof Key>;
/** A key as it sees itself, with its remaining limit (specification section 2, "What a key sees"). */
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
    ...settingsView(key, {
      description: { prefix: key.prefix },
      spending_limit: { spending_current: creditsString(spentInPeriod) },
      webhook_url: { created_at: timestamp(key.createdAt) },
      can_manage: { version: key.version },
    }),
    last_used_at: lastUsedAt === undefined ? null : timestamp(lastUsedAt),
    previous_valid_until:
      previousValidUntil === null || previousValidUntil <= redisNow ? null : timestamp(previousValidUntil),
  };
}

const FIELDS = KEY_FIELD_NAMES.map(
  (field) => [field, KEY_FIELDS[field].wire, KEY_FIELDS[field].type.kind] as const,
);

/** The settings of a key as the API has them, and read-only fields, each after a setting as in the specification. */
function settingsView<const After extends { readonly [W in WireName]?: object }>(
  settings: KeySettings,
  after: After,
): WireSettings & Joined<After[keyof After]> {
  const view = {};
  for (const [field, wire, kind] of FIELDS)
    Object.assign(view, { [wire]: viewOf(kind, settings[field]) }, after[wire]);
  return view as WireSettings & Joined<After[keyof After]>;
}

/** The objects of a union in one. */
type Joined<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void
  ? All
  : never;

function viewOf(kind: Kind, value: unknown): unknown {
  if (value === null) return null;
  if (kind === 'time') return timestamp(value as number);
  return kind === 'credits' ? creditsNumber(value as Micro) : value;
}

/** The view of a key for itself at `redisNow`, as for `keyView`; its period is that of the same time. */
export function ownKeyView(key: KeyRecord, use: KeyUse, redisNow: number): OwnKeyView {
  const { spendingLimit: limit } = key;
  return {
    ...keyView(key, use, redisNow),
    limit_remaining: limit === null ? null : creditsString(micro(Math.max(0, limit - use.spentInPeriod))),
    period_ends_at: periodEndsAt(redisNow, key.spendingPeriod),
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
    _service: { note: 'Save this key now. It is not stored and will not be shown again.' },
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

/** Limits of calls as keys and accounts show them (specification section 11); null: no limit. */
export type CallLimitsView = Static<ObjectSchema<ReturnType<typeof callLimitSchemas>>>;

/** The limits of calls of a record, under their names in the API. */
export function callLimitsView({ rpmLimit, tpmLimit, maxParallelRequests }: CallLimits): CallLimitsView {
  return {
    [CALL_LIMIT_FIELDS.rpmLimit]: rpmLimit,
    [CALL_LIMIT_FIELDS.tpmLimit]: tpmLimit,
    [CALL_LIMIT_FIELDS.maxParallelRequests]: maxParallelRequests,
  };
}
