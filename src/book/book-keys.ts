import type { KeyRecord, KeySettings } from '../domain/key.ts';

/** A key as it is first stored: settings plus the fields that the gateway sets. `hash` is the SHA-256 of the value, hex. */
export interface NewKey extends KeySettings {
  readonly hash: string;
  readonly prefix: string;
}

/** Bounds of the keys of one account, inactive ones included: none is ever removed. */
export interface KeyBounds {
  readonly maxKeys: number;
  /** Most bytes of the settings of all keys, as JSON in UTF-8. */
  readonly maxKeyBytes: number;
}

/** Thrown if a change was made to another version of a key than the one that the book has. */
export class VersionConflict extends Error {
  readonly current: number;

  constructor(current: number) {
    super(`the key is at version ${current}`);
    this.current = current;
  }
}
/** Thrown if the settings of a key would take more than MOST_KEY_BYTES. */
export class KeyTooLarge extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super(`the settings of the key would take ${bytes} bytes`);
    this.bytes = bytes;
  }
}
/** Thrown if an account may have no more keys, or its keys no longer settings. */
export class TooManyKeys extends Error {
  readonly bound: keyof KeyBounds;

  constructor(bound: keyof KeyBounds) {
    super(`the keys of the account are at the bound ${bound}`);
    this.bound = bound;
  }
}

/** The part of the book that stores the keys of accounts. */
export interface BookKeys {
  /** The key that has this hash, or had it before its last rotation; its record says until when. */
  keyByHash(hash: string): Promise<KeyRecord | undefined>;
  key(accountId: number, keyId: number): Promise<KeyRecord | undefined>;
  /**
   * Keys of the account with ids above `after` (default 0), by id ascending, inactive ones included. A page has at most
   * `limit` keys, at most 500, and fewer if their lists are long, so that it takes some 1 MiB. Empty: there are no more.
   */
  keys(accountId: number, after?: number, limit?: number): Promise<KeyRecord[]>;
  /** Names of keys, by id; ids that the book does not have are left out. */
  keyNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The ids among these that the book has. */
  keysAmong(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Throws TooManyKeys if the account has no room for the key. */
  createKey(accountId: number, key: NewKey, now: number, most?: KeyBounds): Promise<KeyRecord>;
  /**
   * Changes a key, whose version grows by one; if no setting differs, nothing is written and the version stays. Undefined:
   * the account has no such key. Throws VersionConflict if the key is at another version than `ifVersion`, KeyTooLarge, and
   * TooManyKeys if the account's keys would take more than `maxKeyBytes`; then nothing is changed. Neither bound refuses a
   * change by which the key does not grow. An inactive key has one value: that before its last rotation is forgotten.
   */
  updateKey(
    accountId: number,
    keyId: number,
    change: Partial<KeySettings>,
    now: number,
    ifVersion?: number,
    maxKeyBytes?: number,
  ): Promise<KeyRecord | undefined>;
  /** Whether any active key blocks a country: only then is country data worth its memory. */
  anyBlockedCountries(): Promise<boolean>;
}
