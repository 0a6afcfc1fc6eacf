import type { KeyView } from '../../../api/keys/key-view.ts';
import { WIRE_NAMES } from '../../../domain/key-settings.ts';
import { restrictionWords } from '../format/words.ts';

/** Restrictions of a key in words; empty where it has none. */
export function restrictionsOf(key: KeyView): string[] {
  return WIRE_NAMES.flatMap((name) => restrictionWords(name, key[name]));
}
