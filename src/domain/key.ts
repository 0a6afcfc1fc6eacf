import type { CallLimits } from './call-limits.ts';
import type { Micro } from './credits.ts';

/** Modalities, in the order in which answers list them. */
export const CATEGORIES = ['text', 'image', 'tts', 'stt', 'video'] as const;
export type Category = (typeof CATEGORIES)[number];

export const SPENDING_PERIODS = ['daily', 'weekly', 'monthly'] as const;
export type SpendingPeriod = (typeof SPENDING_PERIODS)[number];

/**
 * A key with the settings of its owner, normalised. The unit in which a key is checked, published and cached; plain
 * JSON, so the same value lives in the book, in Redis and in the process.
 */
export interface KeyRecord extends CallLimits {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly description: string;
  readonly prefix: string;
  /** SHA-256 (hex) of the key's value. */
  readonly hash: string;
  /** SHA-256 of the previous value, which is the same key until `previousValidUntil`; null: there is none. */
  readonly previousHash: string | null;
  /** By Redis' clock, in milliseconds since the epoch; null: there is no previous value. */
  readonly previousValidUntil: number | null;
  readonly isActive: boolean;
  readonly canManage: boolean;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  readonly allowedModels: readonly string[];
  readonly allowedCategories: readonly Category[];
  readonly spendingLimit: Micro | null;
  readonly spendingPeriod: SpendingPeriod;
  /** `HH:MM-HH:MM` UTC or "". */
  readonly activeHours: string;
  readonly allowedIps: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly blockedCountries: readonly string[];
  readonly webhookUrl: string;
  readonly createdAt: number;
  /** Grows by one with every change of a setting or a value; admission compares it (specification section 3, "Revocation is exact"). */
  readonly version: number;
}

/** The fields that create and PATCH can set. */
export type KeySettings = Omit<
  KeyRecord,
  'id' | 'accountId' | 'prefix' | 'hash' | 'previousHash' | 'previousValidUntil' | 'createdAt' | 'version'
>;

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
