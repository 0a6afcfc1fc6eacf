/**
 * Converts a value to text: a string unchanged, null and undefined as "", anything else as JSON. A value nested too
 * deep for JSON.stringify becomes its names and values.
 */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.parse reads any depth, but JSON.stringify overflows its stack at some thousands, and deeper values must
    // count.
    return wordsIn(value);
  }
}

/** Names and values in a value, in no particular order. */
function wordsIn(root: unknown): string {
  const words: string[] = [];
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) words.push(String(value));
    else for (const [name, inner] of Object.entries(value)) open.push(name, inner);
  }
  return words.join(' ');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
