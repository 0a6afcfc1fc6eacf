import type { KeyRecord } from '../domain/key.ts';

/** The new value of a rotated key. The book never gets a value itself, only its SHA-256 (hex). */
export interface RotatedValue {
  readonly hash: string;
  readonly prefix: string;
  /** Time until which the previous value is valid too, in milliseconds by Redis' clock; null if it ends at once. */
  readonly previousValidUntil: number | null;
}

/** The part of the book that changes the values of keys (specification section 2, "Rotate"). */
export interface KeyRotations {
  /**
   * Gives a key a new value. Its previous one stays valid until `previousValidUntil` if the key is active; an older one
   * ends at once. `ifVersion` and VersionConflict are as in `updateKey`.
   */
  rotateKey(
    accountId: number,
    keyId: number,
    value: RotatedValue,
    now: number,
    ifVersion?: number,
  ): Promise<{ readonly before: KeyRecord; readonly key: KeyRecord } | undefined>;
  /**
   * Undoes a rotation whose new value nobody was given: the key gets the values of `before` back, as a further version.
   * It gets only the newest of them if the key was changed, or the grace ended, meanwhile. Undefined, with
   * nothing changed, if `hash` is no longer the newest value of the key.
   */
  withdrawRotation(before: KeyRecord, hash: string, now: number): Promise<KeyRecord | undefined>;
  /**
   * Ends the previous value of a key. If there is none, or its time is over at `redisNow` (by Redis' clock, in
   * milliseconds; default 0), the version stays. `ifVersion` and VersionConflict are as in `updateKey`.
   */
  endGrace(
    accountId: number,
    keyId: number,
    now: number,
    ifVersion?: number,
    redisNow?: number,
  ): Promise<KeyRecord | undefined>;
}
