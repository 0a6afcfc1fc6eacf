/** Letters and digits after the prefix from which a text is taken for a key value, which may be cut off. */
const MASKED_LENGTH = 20;

/** Replaces each key value in a text by its prefix (KEY_PREFIX) and `…`, for logs and records. */
export function maskKeys(text: string, prefix: string): string {
  return text.includes(prefix) ? text.replace(valueAfter(prefix), `${prefix}…`) : text;
}

/** Whether a text has a key value in it, as opposed to the start that is shown of one. */
export function hasKey(text: string, prefix: string): boolean {
  return text.includes(prefix) && valueAfter(prefix).test(text);
}

function valueAfter(prefix: string): RegExp {
  return new RegExp(`${prefix}[0-9A-Za-z]{${MASKED_LENGTH},}`, 'g');
}
