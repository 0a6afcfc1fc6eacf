import { invalidField } from './errors.ts';
import type { KeyRecord } from './key.ts';
import { maybe, number, type Parsed, readBody, reader, section } from './shape.ts';

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

/** A request for a new value, or for the end of the previous one (specification section 2, "Rotate"). */
export const Rotation = section(
  {
    grace_seconds: {
      ...maybe(number(0, MOST_GRACE_S), 'Seconds that the previous value stays valid; 0: it ends at once.'),
      shownDefault: 0,
    },
    end_grace: maybe(
      reader<true, true>(
        { type: 'boolean', const: true },
        (value, path, faults) =>
          value === true || faults.add(path, 'must be true. To rotate the key, leave it out'),
      ),
      'Ends the previous value now, without a new one. Send it alone.',
    ),
  },
  {
    title: 'Rotation',
    description: 'A new value, or the end of the previous one.',
    maxProperties: 1,
  },
);

/** Reads a request to rotate; no body is an empty one. Throws `invalid_json` and `invalid_field`. */
export function parseRotation(body: unknown = {}): Parsed<typeof Rotation> {
  const asked = readBody(Rotation, body);
  if (asked.endGrace && asked.graceSeconds !== undefined) {
    throw invalidField('grace_seconds', "grace_seconds can't be combined with end_grace.");
  }
  return asked;
}
