/** Matches names of ASCII characters only, which fold to their lower case. */
const ASCII = /^[\0-\x7f]*$/;
/** Combining dot above, which `İ` leaves behind when it is put into lower case. */
const DOT_ABOVE = /\u0307/g;

/**
 * Folds a name so that two names that any decoder could take for the same become equal. Decoders that ignore case
 * differ: Go folds `ſ` (U+017F) to s and `K` (U+212A) to k, Java compares by upper and by lower case (`ı` and `İ` are
 * i), Python folds `ß` to ss and `ﬆ` to st.
 */
export function foldName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  return name.toUpperCase().toLowerCase().replace(DOT_ABOVE, '');
}
