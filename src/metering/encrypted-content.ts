import { hash } from 'node:crypto';
import type { ElidedStrings } from './json/elided-strings.ts';
import { isObject } from './json/value.ts';

/**
 * Characters that identify an encrypted content, with its length. OpenAI's has 15 random bytes in them. The
 * beginning is all that stays of a long string of a request.
 */
const HEAD_CHARS = 32;
/** Items of a request that are looked for, from the last one back: one provider made all that it can read. */
const MOST_ITEMS = 8;

/**
 * Ids of the encrypted reasoning in items of an answer, or of a request's input, whose long strings `elided` knows: by them the
 * provider is found that made it and alone can read it. The last item comes first.
 */
export function encryptedIds(items: unknown, elided?: ElidedStrings): string[] {
  const ids: string[] = [];
  if (!Array.isArray(items)) return ids;
  for (let at = items.length - 1; at >= 0 && ids.length < MOST_ITEMS; at--) {
    const id = encryptedId(items[at], elided);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** The id of an item with encrypted reasoning; undefined if it has none. */
export function encryptedId(item: unknown, elided?: ElidedStrings): string | undefined {
  const content = isObject(item) ? item.encrypted_content : undefined;
  if (typeof content !== 'string' || content === '') return undefined;
  const long = elided?.get(content);
  const [head, length] = long ? [long.head, long.units] : [content, content.length];
  return `encrypted_${hash('sha256', `${length} ${head.slice(0, HEAD_CHARS)}`).slice(0, HEAD_CHARS)}`;
}
