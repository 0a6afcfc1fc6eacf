/** Order of a table, which is in the address: `sort=spend` or, from the largest down, `sort=-spend`. */
export interface Sorting {
  /** Words of the address by the names of the columns that can be sorted. */
  readonly words: Readonly<Record<string, string>>;
  readonly by: string;
  readonly isDown: boolean;
  /** Sorts by a word; by the one that the table is sorted by, the other way round. */
  choose(word: string): void;
}

/**
 * The sorting that the address says, `asked`, or `fallback`. `down` are the words that begin with the largest. `choose`
 * gets the next `sort` of the address, "" for the fallback.
 */
export function sortingOf(
  asked: string,
  words: Sorting['words'],
  fallback: string,
  down: readonly string[],
  choose: (sort: string) => void,
): Sorting {
  const isKnown = Object.values(words).includes(asked.replace(/^-/, ''));
  const current = isKnown ? asked : fallback;
  const by = current.replace(/^-/, '');
  const isDown = current.startsWith('-');
  return {
    words,
    by,
    isDown,
    choose(word) {
      const next = word === by ? !isDown : down.includes(word);
      const sort = `${next ? '-' : ''}${word}`;
      choose(sort === fallback ? '' : sort);
    },
  };
}
