import type { KeyView } from '../../../api/keys/key-view.ts';
import { WIRE_NAMES } from '../../../domain/key-settings.ts';
import { restrictionWords } from '../format/words.ts';

/** Restrictions of a key in words; empty if it has none. */
export function restrictionsOf(key: KeyView): string[] {
  return WIRE_NAMES.flatMap((name) => restrictionWords(name, key[name]));
}

/**
 * Restrictions of a key in a few words: `3 models · 2 IPs`, `1 model · 5 more`; "" where it has none. The spending
 * limit has its own column in the table of keys.
 */
export function briefRestrictions(key: KeyView): string {
  const [first = '', ...others] = restrictionsOf({ ...key, spending_limit: null });
  if (others.length > 1) return `${first} · ${others.length} more`;
  return [first, ...others].join(' · ');
}
