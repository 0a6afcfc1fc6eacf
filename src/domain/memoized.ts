/** Most characters of the sources that are kept before all are dropped: 10,000 lists of a few entries. */
const REMEMBERED_CHARACTERS = 1_000_000;
/** Memory of a source beside its text, counted in characters. */
const OVERHEAD = 60;

/**
 * A memoized `compile`: equal sources share one result. The keys of a company mostly have the same lists, so that a
 * hundred thousand keys need not hold a hundred thousand copies. Results must not be changed. Dropping them costs
 * memory only: the next of equal sources is compiled once more.
 */
export function memoized<Source extends string | readonly string[], Result>(
  compile: (source: Source) => Result,
): (source: Source) => Result {
  const results = new Map<string, Result>();
  let characters = 0;
  return (source) => {
    // Not joined: an entry may hold any character, and two lists must never pass for one.
    const text = typeof source === 'string' ? source : JSON.stringify(source);
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compile(source);
    characters += text.length + OVERHEAD;
    if (characters > REMEMBERED_CHARACTERS) {
      results.clear();
      characters = text.length + OVERHEAD;
    }
    results.set(text, result);
    return result;
  };
}
