import type { CallLimits } from './call-limits.ts';
import type { Micro } from './credits.ts';
import type { KeySettings } from './key-settings.ts';

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
  readonly createdAt: number;
  /** Grows by one with every change of a setting or a value; admission compares it (specification section 3, "Revocation is exact"). */
  readonly version: number;
}

/** Alert threshold of a new account in credits, until the owner sets another (specification section 7). */
export const DEFAULT_ALERT_THRESHOLD = 100;

/** The limits of an account are set by the operator, and hold for its keys together. */
export interface AccountRecord extends CallLimits {
  readonly id: number;
  readonly email: string;
  readonly isActive: boolean;
  readonly alertThreshold: Micro;
  /** How far calls in flight may together take the balance below 0, at most; 0 or more. Set by the operator. */
  readonly overdraft: Micro;
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
}
