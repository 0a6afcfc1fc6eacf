/** Bytes of one compiled list entry besides its text: the string header and its slot in a set. */
const ENTRY_BYTES = 56;
/** Bytes of a result and its slot in a table. */
const RESULT_BYTES = 100;
/** Bytes of sources and results at which a table is cleared: some 10,000 lists of a few entries. */
const TABLE_BYTES = 4_000_000;

/** Upper bound of a compiled list's memory in bytes (V8 may use two bytes a character). */
export function compiledBytes(source: readonly string[]): number {
  let bytes = 0;
  for (const entry of source) bytes += ENTRY_BYTES + 2 * entry.length;
  return bytes;
}

/**
 * Memoizes `compile`: equal sources share one result. A company's keys mostly have the same lists, and a hundred
 * thousand keys should not hold a hundred thousand copies. Do not modify results. Clearing the table costs only memory:
 * the next equal source is compiled again.
 */
export function memoized<Source extends string | readonly string[], Result>(
  compile: (source: Source) => Result,
): (source: Source) => Result {
  const results = new Map<string, Result>();
  let bytes = 0;
  return (source) => {
    // Not joined: an entry may hold any character, and two lists must never pass for one.
    const text = typeof source === 'string' ? source : JSON.stringify(source);
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compile(source);
    const size = RESULT_BYTES + 2 * text.length + (typeof source === 'string' ? 0 : compiledBytes(source));
    bytes += size;
    if (bytes > TABLE_BYTES) {
      results.clear();
      bytes = size;
    }
    results.set(text, result);
    return result;
  };
}
