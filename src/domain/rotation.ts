import { invalidField } from './errors.ts';
import type { KeyRecord } from './key.ts';

/** Longest time with two values of a key: 30 days. */
export const MOST_GRACE_S = 2_592_000;

/**
 * End of validity of the key value with this SHA-256 (hex), in milliseconds since the epoch by Redis' clock
 * (specification section 2, "Rotate"): Infinity for the newest value, 0 for a value of another key.
 */
export function endOfValue(key: KeyRecord, hash: string): number {
  if (hash === key.hash) return Infinity;
  return hash === key.previousHash ? (key.previousValidUntil ?? 0) : 0;
}

/** A request to rotate: for a new value, or for the end of the previous one. */
type RotationRequest = { readonly kind: 'rotate'; readonly graceS: number } | { readonly kind: 'end_grace' };

/** Reads the fields of a request to rotate (specification section 2, "Rotate"). Throws `invalid_field`. */
export function parseRotation(fields: Readonly<Record<string, unknown>>): RotationRequest {
  const { grace_seconds: grace, end_grace: end } = fields;
  if (end !== undefined) {
    if (end !== true) {
      throw invalidField('end_grace', 'end_grace must be true. To rotate the key, leave it out.');
    }
    if (grace !== undefined) {
      throw invalidField('grace_seconds', "grace_seconds can't be combined with end_grace.");
    }
    return { kind: 'end_grace' };
  }
  if (grace === undefined) return { kind: 'rotate', graceS: 0 };
  if (!Number.isSafeInteger(grace) || (grace as number) < 0 || (grace as number) > MOST_GRACE_S) {
    throw invalidField('grace_seconds', `grace_seconds must be a whole number from 0 to ${MOST_GRACE_S}.`);
  }
  return { kind: 'rotate', graceS: grace as number };
}
