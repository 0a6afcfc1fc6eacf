import type { CallLimits } from './call-limits.ts';
import type { Micro } from './credits.ts';
import type { KeyField } from './key-fields.ts';
import { KEY_FIELD_NAMES, type KeySettings } from './key-settings.ts';
import type { SpendingLimit } from './spending-limits.ts';

export { CATEGORIES, type Category } from './key-readers.ts';
export { SPENDING_PERIODS, type SpendingPeriod } from './period.ts';
export type { KeySettings };

/**
 * A key with the settings of its owner, normalized. The unit in which a key is checked, published and cached; plain
 * JSON, so the same value lives in the book, in Redis and in the process.
 */
export interface KeyRecord extends KeySettings {
  readonly id: number;
  readonly accountId: number;
  readonly prefix: string;
  /** SHA-256 (hex) of the key's value. */
  readonly hash: string;
  /** SHA-256 of the previous value, which is the same key until `previousValidUntil`; null: there is none. */
  readonly previousHash: string | null;
  /** By Redis' clock, in milliseconds since the epoch; null: there is no previous value. */
  readonly previousValidUntil: number | null;
  /** The person whose key it is; null: it is the account's. Never changes. */
  readonly personId: number | null;
  /** Spending limits of the person's membership, which bind all its keys together; empty without a person. */
  readonly memberSpendingLimits: readonly SpendingLimit[];
  readonly createdAt: number;
  /** Grows by one with every change of a setting, a value, or the membership's spending limits; admission compares it (specification section 3, "Revocation is exact"). */
  readonly version: number;
}

const GATEWAY_FIELDS = {
  id: true,
  accountId: true,
  prefix: true,
  hash: true,
  previousHash: true,
  previousValidUntil: true,
  personId: true,
  memberSpendingLimits: true,
  createdAt: true,
  version: true,
} as const satisfies Record<Exclude<keyof KeyRecord, KeyField>, true>;

const RECORD_FIELDS = [...Object.keys(GATEWAY_FIELDS), ...KEY_FIELD_NAMES];

/**
 * Reads a published record. Undefined if it lacks a field: an earlier version published it, and only the book knows the
 * field's value. A default could lift a restriction that a gateway of this version has set.
 */
export function keyRecordIn(text: string): KeyRecord | undefined {
  const record = JSON.parse(text) as object;
  return RECORD_FIELDS.every((field) => field in record) ? (record as KeyRecord) : undefined;
}

/** Alert threshold of a new account in credits, until the owner sets another (specification section 7). */
export const DEFAULT_ALERT_THRESHOLD = 100;

/** The limits of an account are set by the operator, and hold for its keys together. */
export interface AccountRecord extends CallLimits {
  readonly id: number;
  readonly email: string;
  /** Display name; its e-mail address without one. */
  readonly name: string;
  readonly isActive: boolean;
  readonly alertThreshold: Micro;
  /** How far calls in flight may together take the balance below 0, at most; 0 or more. Set by the operator. */
  readonly overdraft: Micro;
  readonly spendingLimits: readonly SpendingLimit[];
  readonly webhookSecret: string;
  readonly createdAt: number;
  readonly version: number;
}

/** A key and the state of its account, as the checks need them. */
export interface Subject {
  readonly key: KeyRecord;
  readonly accountVersion: number;
  readonly accountActive: boolean;
  readonly accountLimits: CallLimits;
  readonly accountSpendingLimits: readonly SpendingLimit[];
}
