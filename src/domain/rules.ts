import { type AddressMatcher, compileRanges } from './addresses.ts';
import { type ModelNames, modelNames } from './allowed-models.ts';
import { type CallLimits, callLimitsOf, hasCallLimits } from './call-limits.ts';
import { type Caller, textOf } from './caller.ts';
import { CALLER_FACTS } from './caller-facts.ts';
import { cutShort, type ErrorCode, GatewayError, type RefusalDetail } from './errors.ts';
import { type ActiveHours, isWithin, parseActiveHours } from './hours.ts';
import type { Category, KeyRecord, Subject } from './key.ts';
import { type CheckedRestriction, KEY_FIELDS, type KeyField } from './key-fields.ts';
import {
  type CallerRestriction,
  KEY_FIELD_NAMES,
  type KeySettings,
  type ModelRestriction,
  rowAt,
} from './key-settings.ts';
import { compiledBytes, memoized } from './memoized.ts';
import { compileOrigins, type OriginMatcher } from './origins.ts';
import { timestamp } from './period.ts';
import { type OwnedLimit, ownedLimits } from './spending-limits.ts';

/** Fields of a key that calls are checked and charged by, besides its lists: all but name, description and webhook. */
export type CheckedKey = Pick<
  KeyRecord,
  'id' | 'accountId' | 'personId' | 'isActive' | 'canManage' | 'expiresAt' | 'version'
>;

/** Active hours of a key, parsed and as its owner wrote them. */
interface WrittenHours extends ActiveHours {
  readonly text: string;
}

/**
 * A key prepared for the checks: parsed once for each version of its record, then used for every request. A process
 * keeps very many of them, so none references its record, and equal lists are one object.
 */
export interface CompiledKey {
  readonly key: CheckedKey;
  readonly accountVersion: number;
  readonly accountActive: boolean;
  /**
   * Time at which the presented value ends (milliseconds since the epoch, by Redis' clock), if it is the previous
   * value of a rotated key; undefined for a value without an end.
   */
  readonly valueEndsAt: number | undefined;
  /** Limits of calls of the key and of its account; undefined if neither has one. */
  readonly limits: KeyAndAccountLimits | undefined;
  /** Spending limits of the key, its member and its account. */
  readonly spendingLimits: readonly OwnedLimit[];
  /** Hours in which the key works; undefined: always. */
  readonly hours: WrittenHours | undefined;
  /** Allowed addresses. Undefined, as in the fields below: not restricted. */
  readonly addresses: AddressMatcher | undefined;
  readonly origins: OriginMatcher | undefined;
  readonly models: ModelNames | undefined;
  readonly categories: ReadonlySet<Category> | undefined;
  readonly blockedCountries: ReadonlySet<string>;
  /** Upper bound of its memory, including lists that it shares with other keys. */
  readonly bytes: number;
}

/** Memory of a compiled key without lists, including its cache entry. */
const BARE_KEY_BYTES = 512;

export interface KeyAndAccountLimits {
  readonly key: CallLimits;
  readonly account: CallLimits;
}

/** The model that is called. */
export interface Target {
  readonly slug: string;
  readonly category: Category;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** One check of specification section 3, named after the field that it reads, and the code that it refuses with. */
export interface Check<On> {
  readonly name: string;
  readonly code: ErrorCode;
  /** The refusal; undefined if the check is passed. */
  readonly check: (compiled: CompiledKey, on: On) => Refusal | undefined;
  /** The value that was checked, for a call that passed. */
  readonly fact: (on: On) => string;
  /** The checked values, for the record of a refused call. */
  readonly facts?: ((on: On) => RefusalDetail) | undefined;
}

/**
 * Prepares a key for the checks. `valueEndsAt`: when the presented value of the key ends; default: never. Throws
 * RangeError for an unreadable restriction: it must not count as none.
 */
export function compileKey(
  { key, accountVersion, accountActive, accountLimits, accountSpendingLimits }: Subject,
  valueEndsAt = Infinity,
): CompiledKey {
  const { id, accountId, personId, isActive, canManage, expiresAt, version } = key;
  return {
    key: { id, accountId, personId, isActive, canManage, expiresAt, version },
    accountVersion,
    accountActive,
    valueEndsAt: valueEndsAt === Infinity ? undefined : valueEndsAt,
    limits:
      hasCallLimits(key) || hasCallLimits(accountLimits)
        ? { key: callLimitsOf(key), account: accountLimits }
        : undefined,
    spendingLimits: ownedLimits(key, accountSpendingLimits),
    hours: key.activeHours === '' ? undefined : hoursOf(key.activeHours),
    addresses: key.allowedIps.length > 0 ? addressesOf(key.allowedIps) : undefined,
    origins: key.allowedOrigins.length > 0 ? originsOf(key.allowedOrigins) : undefined,
    models: key.allowedModels.length > 0 ? modelNames(key.allowedModels) : undefined,
    categories: key.allowedCategories.length > 0 ? categoriesOf(key.allowedCategories) : undefined,
    blockedCountries: countriesOf(key.blockedCountries),
    bytes: BARE_KEY_BYTES + LISTS.reduce((sum, list) => sum + compiledBytes(key[list]), 0),
  };
}

type ListField = { [F in KeyField]: KeySettings[F] extends readonly string[] ? F : never }[KeyField];
const LISTS = KEY_FIELD_NAMES.filter((field): field is ListField => KEY_FIELDS[field].type.kind === 'list');

const hoursOf = memoized((text: string): WrittenHours => {
  const hours = parseActiveHours(text);
  if (!hours) throw new RangeError(`not active hours: ${text}`);
  return { text, ...hours };
});
const addressesOf = memoized(compileRanges);
const originsOf = memoized(compileOrigins);
const categoriesOf = memoized(
  (categories: readonly Category[]): ReadonlySet<Category> => new Set(categories),
);
const countriesOf = memoized((codes: readonly string[]): ReadonlySet<string> => new Set(codes));

/** A check's message of refusal; undefined if it is passed. */
type Test<On> = (compiled: CompiledKey, on: On) => string | undefined;

/** Restrictions checked for every request, in the order of specification section 3. */
const CALLER_RESTRICTIONS: Readonly<Record<CallerRestriction, Test<Caller>>> = {
  expires_at: notExpired,
  active_hours: withinHours,
  allowed_ips: addressAllowed,
  blocked_countries: countryNotBlocked,
  allowed_origins: originAllowed,
};

/** Restrictions checked against the model. */
const MODEL_RESTRICTIONS: Readonly<Record<ModelRestriction, Test<Target>>> = {
  allowed_categories: categoryAllowed,
  allowed_models: modelAllowed,
};

/** Checks 3 to 8 of specification section 3, in its order. */
export const CALLER_CHECKS: readonly Check<Caller>[] = [
  checkOf('is_active', 'inactive_api_key', keyIsActive, () => 'The key is active.'),
  checkOf('account_active', 'inactive_account', accountIsActive, () => 'The account is active.'),
  ...checksOf(CALLER_RESTRICTIONS, ({ reads = [] }): Pick<Check<Caller>, 'fact' | 'facts'> => {
    const compared = reads.at(-1);
    if (!compared) return { fact: ({ nowMs }) => `Checked at ${timestamp(nowMs)}.` };
    return {
      fact: (caller) => CALLER_FACTS[compared].checked(textOf(caller, compared)),
      facts: (caller) => Object.fromEntries(reads.map((name) => [name, textOf(caller, name)])),
    };
  }),
];

/** Check 10 of specification section 3. */
export const MODEL_CHECKS: readonly Check<Target>[] = checksOf(MODEL_RESTRICTIONS, () => ({
  fact: () => 'Allowed, or not restricted.',
}));

function checksOf<Name extends CallerRestriction | ModelRestriction, On>(
  tests: Readonly<Record<Name, Test<On>>>,
  factsOf: (row: CheckedRestriction) => Pick<Check<On>, 'fact' | 'facts'>,
): Check<On>[] {
  return (Object.keys(tests) as Name[]).map((name) => {
    const row = rowAt(name) as CheckedRestriction;
    const { fact, facts } = factsOf(row);
    return checkOf(name, row.code, tests[name], fact, facts);
  });
}

function checkOf<On>(
  name: string,
  code: ErrorCode,
  test: Test<On>,
  fact: Check<On>['fact'],
  facts?: Check<On>['facts'],
): Check<On> {
  const check = (compiled: CompiledKey, on: On) => {
    const message = test(compiled, on);
    return message === undefined ? undefined : { code, message };
  };
  return { name, code, check, fact, facts };
}

/** The first of checks 3 to 8 that fails, as the answer to the caller; undefined: all pass. */
export function refusalOf(compiled: CompiledKey, caller: Caller): GatewayError | undefined {
  return firstRefusal(CALLER_CHECKS, compiled, caller);
}

/** The first part of check 10 that fails, as the answer to the caller; undefined: all pass. */
export function modelRefusalOf(compiled: CompiledKey, target: Target): GatewayError | undefined {
  return firstRefusal(MODEL_CHECKS, compiled, target);
}

/** Whether the key may call the model: check 10. */
export function mayCall(compiled: CompiledKey, target: Target): boolean {
  return MODEL_CHECKS.every(({ check }) => check(compiled, target) === undefined);
}

function firstRefusal<On>(
  checks: readonly Check<On>[],
  compiled: CompiledKey,
  on: On,
): GatewayError | undefined {
  for (const { check, facts } of checks) {
    const refusal = check(compiled, on);
    if (refusal) {
      return new GatewayError(refusal.code, refusal.message, null, undefined, { facts: facts?.(on) });
    }
  }
  return undefined;
}

function keyIsActive({ key }: CompiledKey): string | undefined {
  if (key.isActive) return undefined;
  return 'This API key is deactivated. Reactivate it or use another key.';
}

function accountIsActive({ accountActive }: CompiledKey): string | undefined {
  if (accountActive) return undefined;
  return 'The account of this API key is deactivated. Contact the operator of this gateway.';
}

function notExpired({ key }: CompiledKey, caller: Caller): string | undefined {
  if (key.expiresAt === null || caller.nowMs < key.expiresAt) return undefined;
  return `This API key expired at ${timestamp(key.expiresAt)}. Extend its expires_at or use another key.`;
}

function withinHours({ hours }: CompiledKey, caller: Caller): string | undefined {
  if (!hours || isWithin(hours, caller.nowMs)) return undefined;
  const now = timestamp(caller.nowMs).slice(11, 16);
  return `This API key can only be used during ${hours.text} UTC. It is now ${now} UTC.`;
}

function addressAllowed({ addresses }: CompiledKey, caller: Caller): string | undefined {
  if (!addresses) return undefined;
  const { ip } = caller;
  if (ip && addresses.has(ip)) return undefined;
  if (!ip) {
    return 'This API key is restricted to its allowed_ips, and your IP address could not be determined.';
  }
  return `Your IP address ${ip.toString()} is not in the allowed_ips of this API key.`;
}

function countryNotBlocked({ blockedCountries }: CompiledKey, caller: Caller): string | undefined {
  if (blockedCountries.size === 0) return undefined;
  const { country } = caller;
  if (country === undefined || !blockedCountries.has(country)) return undefined;
  return `Your IP address is in ${country}, which the blocked_countries of this API key include.`;
}

function originAllowed({ origins }: CompiledKey, caller: Caller): string | undefined {
  const { origin, allowMissingOrigin } = caller;
  if (!origins) return undefined;
  if (!origin) {
    if (allowMissingOrigin) return undefined;
    return 'This API key is restricted to its allowed_origins, but the request has no Origin or Referer header.';
  }
  if (origins.allows(origin)) return undefined;
  return `The origin ${quoted(origin)} is not in the allowed_origins of this API key.`;
}

function categoryAllowed({ categories }: CompiledKey, { slug, category }: Target): string | undefined {
  if (!categories || categories.has(category)) return undefined;
  return `The model ${quoted(slug)} has the category ${category}, but this API key is restricted to ${[...categories].join(', ')}.`;
}

function modelAllowed({ models }: CompiledKey, { slug }: Target): string | undefined {
  if (!models || models.has(slug)) return undefined;
  return `The model ${quoted(slug)} is not in the allowed_models of this API key. List the models it can use with GET /v1/models.`;
}

/** Client text, quoted for a message. */
function quoted(text: string): string {
  return JSON.stringify(cutShort(text));
}
