import { type Actor, SYSTEM } from '../domain/actor.ts';
import type { KeyRecord } from '../domain/key.ts';
import { difference } from './audit.ts';
import { auditKey, changeKeyRow, keyRecord, NO_PREVIOUS } from './key-row.ts';
import { countTowardsRate } from './rates.ts';
import type { KeyRow } from './schema.ts';
import type { Store } from './store.ts';

/** New value of a rotated key. The book gets only its SHA-256 (hex). */
interface RotatedValue {
  readonly hash: string;
  readonly prefix: string;
  /** End of the previous value's validity, in milliseconds by Redis' clock; null: at once. */
  readonly previousValidUntil: number | null;
}

/** Changes key values (specification section 2, "Rotate"). */
export interface KeyRotations {
  /**
   * Gives a key a new value. The previous value stays valid until `previousValidUntil` if the key is active; an older
   * one ends at once. `ifVersion` and VersionConflict work as in `updateKey`. Throws TooOften beyond 60 rotations a
   * minute of an account.
   */
  rotateKey(
    accountId: number,
    keyId: number,
    value: RotatedValue,
    now: number,
    ifVersion?: number,
    by?: Actor,
  ): Promise<
    | {
        readonly before: KeyRecord;
        readonly key: KeyRecord;
        /** Hash of the value that the third last rotation replaced, which Redis needs no longer; null: none. */
        readonly endedHash: string | null;
      }
    | undefined
  >;
  /**
   * Undoes a rotation whose new value no client received: the key gets the values of `before` back, in a new version.
   * If the key changed or its grace ended in the meantime, only the newest of these values returns. Undefined, without
   * a change, if `hash` is no longer the newest value of the key.
   */
  withdrawRotation(before: KeyRecord, hash: string, now: number, by?: Actor): Promise<KeyRecord | undefined>;
  /**
   * Ends the previous value of a key. The version stays if there is none, or if it expired by `redisNow` (milliseconds
   * by Redis' clock; default 0). `ifVersion` and VersionConflict work as in `updateKey`.
   */
  endGrace(
    accountId: number,
    keyId: number,
    now: number,
    ifVersion?: number,
    redisNow?: number,
    by?: Actor,
  ): Promise<KeyRecord | undefined>;
}

/**
 * Columns of a key whose grace a request ended. Without a previous value, the time 0 has no effect, but shows
 * `withdrawRotation` that there was such a request: the rotation it undoes may already have removed the previous value,
 * leaving the request nothing to end.
 */
const GRACE_ENDED = { previous_hash: null, previous_valid_until: 0 } as const;

/** Replaced values of a key that Redis has, so that calls with them are recorded under it. */
const KEPT = 2;

function replaced({ replaced_hashes }: KeyRow): string[] {
  return JSON.parse(replaced_hashes ?? '[]');
}

export function rotationQueries(store: Store): KeyRotations {
  return {
    async rotateKey(accountId, keyId, { hash, prefix, previousValidUntil }, now, ifVersion, by = SYSTEM) {
      const changed = await changeKeyRow(
        store,
        { accountId, keyId, ifVersion },
        now,
        (row) => ({
          hash,
          prefix,
          replaced_hashes: JSON.stringify([row.hash, ...replaced(row)].slice(0, KEPT)),
          ...(previousValidUntil === null || row.is_active === 0
            ? NO_PREVIOUS
            : { previous_hash: row.hash, previous_valid_until: previousValidUntil }),
        }),
        async (trx, before, after) => {
          await countTowardsRate(store, trx, 'rotation', accountId, now);
          const prefixes = difference({ prefix: before.prefix }, { prefix: after.prefix });
          await auditKey(trx, { by, action: 'key.rotate', key: after, ...prefixes }, now);
        },
      );
      if (!changed) return undefined;
      const { before, after } = changed;
      return {
        before: keyRecord(before),
        key: keyRecord(after),
        endedHash: replaced(before)[KEPT - 1] ?? null,
      };
    },

    async withdrawRotation(before, hash, now, by = SYSTEM) {
      const { accountId, id: keyId } = before;
      const which = { accountId, keyId, ifVersion: undefined };
      const earlier = (row: KeyRow) => {
        if (row.hash !== hash) return undefined;
        const { hash: value, prefix, previousHash, previousValidUntil, version } = before;
        // Deactivations and ends of the grace are already confirmed to clients, so no earlier value returns after one.
        const isGraceEnded = row.previous_hash === null && row.previous_valid_until === 0;
        const isUnended = !isGraceEnded && (row.version === version + 1 || row.previous_hash === value);
        const previous = { previous_hash: previousHash, previous_valid_until: previousValidUntil };
        return {
          hash: value,
          prefix,
          replaced_hashes: JSON.stringify([hash, ...replaced(row).slice(1)]),
          ...(isUnended ? previous : NO_PREVIOUS),
        };
      };
      const changed = await changeKeyRow(store, which, now, earlier, async (trx, rotated, after) => {
        const prefixes = difference({ prefix: rotated.prefix }, { prefix: after.prefix });
        await auditKey(trx, { by, action: 'key.rotate', key: after, ...prefixes }, now);
      });
      return changed && keyRecord(changed.after);
    },

    async endGrace(accountId, keyId, now, ifVersion, redisNow = 0, by = SYSTEM) {
      const ended = (row: KeyRow) => {
        const isInGrace = row.previous_hash !== null && (row.previous_valid_until ?? 0) > redisNow;
        return isInGrace ? GRACE_ENDED : { ...GRACE_ENDED, version: row.version, updated_at: row.updated_at };
      };
      const which = { accountId, keyId, ifVersion };
      const changed = await changeKeyRow(store, which, now, ended, async (trx, before, after) => {
        if (after.version > before.version)
          await auditKey(trx, { by, action: 'key.end_grace', key: after }, now);
      });
      return changed && keyRecord(changed.after);
    },
  };
}
