import type { KeyRecord } from '../domain/key.ts';
import { changeKeyRow, keyRecord, NO_PREVIOUS } from './key-row.ts';
import type { Store } from './store.ts';

/** The new value of a rotated key. The book never gets a value itself, only its SHA-256 (hex). */
interface RotatedValue {
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

/**
 * Columns of a key whose grace was ended by a request. The time 0 means nothing without a value, but tells
 * `withdrawRotation` that there was such a request: the rotation that it undoes may have taken the previous value away
 * before, so that the request found none to end.
 */
const GRACE_ENDED = { previous_hash: null, previous_valid_until: 0 } as const;

/** Queries that change the values of a key (specification section 2, "Rotate"). */
export function rotationQueries(store: Store): KeyRotations {
  return {
    async rotateKey(accountId, keyId, { hash, prefix, previousValidUntil }, now, ifVersion) {
      const changed = await changeKeyRow(store, { accountId, keyId, ifVersion }, now, (row) => ({
        hash,
        prefix,
        ...(previousValidUntil === null || row.is_active === 0
          ? NO_PREVIOUS
          : { previous_hash: row.hash, previous_valid_until: previousValidUntil }),
      }));
      return changed && { before: keyRecord(changed.before), key: keyRecord(changed.after) };
    },

    async withdrawRotation(before, hash, now) {
      const { accountId, id: keyId } = before;
      const changed = await changeKeyRow(store, { accountId, keyId, ifVersion: undefined }, now, (row) => {
        if (row.hash !== hash) return undefined;
        const { hash: value, prefix, previousHash, previousValidUntil, version } = before;
        // After a deactivation or an end of the grace, which are answered already, no earlier value returns.
        const isGraceEnded = row.previous_hash === null && row.previous_valid_until === 0;
        const isUnended = !isGraceEnded && (row.version === version + 1 || row.previous_hash === value);
        const previous = { previous_hash: previousHash, previous_valid_until: previousValidUntil };
        return { hash: value, prefix, ...(isUnended ? previous : NO_PREVIOUS) };
      });
      return changed && keyRecord(changed.after);
    },

    async endGrace(accountId, keyId, now, ifVersion, redisNow = 0) {
      const changed = await changeKeyRow(store, { accountId, keyId, ifVersion }, now, (row) => {
        const isInGrace = row.previous_hash !== null && (row.previous_valid_until ?? 0) > redisNow;
        return isInGrace ? GRACE_ENDED : { ...GRACE_ENDED, version: row.version, updated_at: row.updated_at };
      });
      return changed && keyRecord(changed.after);
    },
  };
}
