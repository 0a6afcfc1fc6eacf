import { changeKeyRow } from './change-key-row.ts';
import type { KeyRotations } from './key-rotations.ts';
import { keyRecord } from './key-row.ts';
import type { Store } from './store.ts';

/** Columns of a key that has no value but its own. */
export const NO_PREVIOUS = { previous_hash: null, previous_valid_until: null } as const;

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
