import type { KeyRecord } from '../domain/key.ts';

/** Value that a rotation gives to a key. Neither value is known to the book, which has their SHA-256 (hex). */
export interface RotatedValue {
  readonly hash: string;
  readonly prefix: string;
  /** Until when the value before it is one of the key's too, in milliseconds by Redis' clock; null: it ends at once. */
  readonly previousValidUntil: number | null;
}

/** The part of the book that changes the values of keys (specification section 2, "Rotate"). */
export interface KeyRotations {
  /**
   * Gives a key a new value. The one before it stays a value of the key until `previousValidUntil`, where the key is active;
   * an older one ends at once. Versions and VersionConflict as in `updateKey`.
   */
  rotateKey(
    accountId: number,
    keyId: number,
    value: RotatedValue,
    now: number,
    ifVersion?: number,
  ): Promise<{ readonly before: KeyRecord; readonly key: KeyRecord } | undefined>;
  /**
   * Undoes a rotation whose value nobody was given: the key has the values of `before` again, in a further version; only the
   * newest of them where the key was deactivated or a grace ended meanwhile. Undefined: `hash` is not the newest value of
   * the key any more, and nothing is changed.
   */
  withdrawRotation(before: KeyRecord, hash: string, now: number): Promise<KeyRecord | undefined>;
  /**
   * Ends the value from before the last rotation. Where there is none, or its time is over at `redisNow` (Redis' clock, in
   * milliseconds; default 0), the version stays. Versions and VersionConflict as in `updateKey`.
   */
  endGrace(
    accountId: number,
    keyId: number,
    now: number,
    ifVersion?: number,
    redisNow?: number,
  ): Promise<KeyRecord | undefined>;
}
