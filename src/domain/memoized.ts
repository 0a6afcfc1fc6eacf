/** Memory in bytes that one compiled entry of a list takes beside its text: a string's head, and its place in a set. */
const ENTRY_BYTES = 56;
/** Memory of a result and of its place in a table, in bytes. */
const RESULT_BYTES = 100;
/** Bytes of sources and results that each table keeps before it drops all of them: some 10,000 lists of a few entries. */
const TABLE_BYTES = 4_000_000;

/** Upper bound of the bytes in memory of a compiled list (two bytes a character: V8 may need that many). */
export function compiledBytes(source: readonly string[]): number {
  let bytes = 0;
  for (const entry of source) bytes += ENTRY_BYTES + 2 * entry.length;
  return bytes;
}

/**
 * A memoized `compile`: equal sources share one result. The keys of a company mostly have the same lists, so that a
 * hundred thousand keys need not hold a hundred thousand copies. Results must not be changed. Dropping them costs
 * memory only: the next of equal sources is compiled once more.
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
