import { CALL_LIMIT_FIELDS, type CallLimits } from '../../domain/call-limits.ts';
import { creditsString } from '../../domain/credits.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { KEY_FIELDS } from '../../domain/key-fields.ts';
import {
  KEY_FIELD_NAMES,
  type KeyPatch,
  type KeySettings,
  type NewKey,
  type WireName,
  type WireSettings,
} from '../../domain/key-settings.ts';
import { keyStatus } from '../../domain/key-status.ts';
import { periodEndsAt, periodStarts, timestamp } from '../../domain/period.ts';
import type { Sent } from '../../domain/shape.ts';
import { limitsOfKey, type SpendingLimit, spentIn, type Windows } from '../../domain/spending-limits.ts';
import { wireValue } from '../../domain/wire-settings.ts';
import type { Static } from '../openapi/json-type.ts';
import type { CreatedKey, Key, KeyList, OwnKey, RotatedKey } from './key-schema.ts';
import { type LimitView, limitViews } from './limit-view.ts';

/** A key as its account sees it. */
export type KeyView = Static<typeof Key>;
/** A key as it sees itself, with its remaining limit (specification section 2, "What a key sees"). */
export type OwnKeyView = Static<typeof OwnKey>;
/** A list of keys by id, or a page of it. */
export type KeyListView = Static<typeof KeyList>;
/** Response to key creation, the only one that shows the value (specification section 2). */
export type CreatedKeyView = Static<typeof CreatedKey>;
/** Response to a rotation (specification section 2): the new value, and the expiry of the previous one. */
export type RotatedKeyView = Static<typeof RotatedKey>;

export type NewKeyBody = Sent<typeof NewKey>;
/** Absent fields stay unchanged. */
export type KeyPatchBody = Sent<typeof KeyPatch>;

/** Use of a key, shown in its view next to its record. */
export interface KeyUse {
  readonly windows: Windows;
  /** Of all keys of its person in the account; undefined: the key is the account's. */
  readonly memberWindows: Windows | undefined;
  readonly account: { readonly limits: readonly SpendingLimit[]; readonly windows: Windows };
  /** Time of its latest call in the ledger, in milliseconds since the epoch; undefined if none. */
  readonly lastUsedAt: number | undefined;
  /** Whether the last five or more calls within 24 hours were all refused. */
  readonly isAllRefused: boolean;
  /** The person whose key it is. */
  readonly member: KeyView['member'];
}

/** View of a key at `redisNow`, in milliseconds of Redis' clock, which decides when the previous value ends. */
export function keyView(key: KeyRecord, use: KeyUse, redisNow: number): KeyView {
  const { windows, lastUsedAt, isAllRefused, member } = use;
  const { previousValidUntil } = key;
  const isLimitReached = hasSpentLimit(key, use, redisNow);
  const spent = spentIn(windows, key.spendingPeriod, periodStarts(redisNow), redisNow);
  return {
    id: key.id,
    ...settingsView(key, {
      description: { prefix: key.prefix },
      spending_limit: { spending_current: creditsString(spent) },
      webhook_url: { created_at: timestamp(key.createdAt) },
      can_manage: { version: key.version },
    }),
    person_id: key.personId,
    member,
    status: keyStatus(key, { isLimitReached, isAllRefused }, redisNow),
    limits: limitViews('key', limitsOfKey(key), windows, redisNow),
    last_used_at: lastUsedAt === undefined ? null : timestamp(lastUsedAt),
    previous_valid_until:
      previousValidUntil === null || previousValidUntil <= redisNow ? null : timestamp(previousValidUntil),
  };
}

/** Whether a limit of the key, its member or its account is spent, so that no call that costs anything is admitted. */
function hasSpentLimit(key: KeyRecord, { windows, memberWindows, account }: KeyUse, now: number): boolean {
  const starts = periodStarts(now);
  const isSpent = (limits: readonly SpendingLimit[], of: Windows | undefined) =>
    of !== undefined && limits.some(({ period, credits }) => spentIn(of, period, starts, now) >= credits);
  return (
    isSpent(limitsOfKey(key), windows) ||
    isSpent(key.memberSpendingLimits, memberWindows) ||
    isSpent(account.limits, account.windows)
  );
}

const FIELDS = KEY_FIELD_NAMES.map(
  (field) => [field, KEY_FIELDS[field].wire, KEY_FIELDS[field].type.kind] as const,
);

/** Settings of a key under their API names, with read-only fields inserted in the specification's order. */
function settingsView<const After extends { readonly [W in WireName]?: object }>(
  settings: KeySettings,
  after: After,
): WireSettings & Joined<After[keyof After]> {
  const view = {};
  for (const [field, wire, kind] of FIELDS)
    Object.assign(view, { [wire]: wireValue(kind, settings[field]) }, after[wire]);
  return view as WireSettings & Joined<After[keyof After]>;
}

/** Intersection of a union's object types. */
type Joined<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void
  ? All
  : never;

/**
 * A key's view of itself at `redisNow`, as in `keyView`; the period uses the same time. `ofAccount`: the limits of its
 * account, which bind it too.
 */
export function ownKeyView(
  key: KeyRecord,
  use: KeyUse,
  ofOthers: readonly LimitView[],
  redisNow: number,
): OwnKeyView {
  const view = keyView(key, use, redisNow);
  // The pair comes first.
  const [first] = view.limits;
  return {
    ...view,
    account_id: key.accountId,
    limits: [...view.limits, ...ofOthers],
    limit_remaining: key.spendingLimit === null ? null : (first?.remaining ?? null),
    period_ends_at: periodEndsAt(redisNow, key.spendingPeriod),
  };
}

/** `value` is the key itself, which is stored nowhere. */
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

/** `value` is the new value. */
export function rotatedKeyView(key: KeyRecord, value: string): RotatedKeyView {
  const { previousValidUntil: until } = key;
  return {
    ...createdKeyView(key, value),
    previous_valid_until: until === null ? null : timestamp(until),
  };
}

/** Call limits of keys and accounts in the API (specification section 11); null: no limit. */
export type CallLimitsView = Pick<WireSettings, (typeof CALL_LIMIT_FIELDS)[keyof CallLimits]>;

/** Call limits of a record under their API names. */
export function callLimitsView({ rpmLimit, tpmLimit, maxParallelRequests }: CallLimits): CallLimitsView {
  return {
    [CALL_LIMIT_FIELDS.rpmLimit]: rpmLimit,
    [CALL_LIMIT_FIELDS.tpmLimit]: tpmLimit,
    [CALL_LIMIT_FIELDS.maxParallelRequests]: maxParallelRequests,
  };
}
