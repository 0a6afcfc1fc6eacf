/** Letters and digits after the prefix from which a text is taken for a key value, which may be cut off. */
const MASKED_LENGTH = 20;

/** Replaces each key value in a text by its prefix (KEY_PREFIX) and `…`, for logs and records. */
export function maskKeys(text: string, prefix: string): string {
  if (!text.includes(prefix)) return text;
  const value = new RegExp(`${prefix}[0-9A-Za-z]{${MASKED_LENGTH},}`, 'g');
  return text.replace(value, `${prefix}…`);
}
