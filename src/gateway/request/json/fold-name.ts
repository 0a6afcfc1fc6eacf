/** Nothing but what has one case only, or is ASCII: such a name folds to its lower case. */
const ASCII = /^[\0-\x7f]*$/;
/** Of `İ` in lower case. */
const DOT_ABOVE = /\u0307/g;

/**
 * A member's or field's name as the widest reader takes it: decoders that ignore case differ in what case is. Go folds `ſ`
 * (U+017F) to s and `K` (U+212A) to k, Java compares by upper and by lower case (`ı` and `İ` are i), Python folds `ß` to ss
 * and `ﬆ` to st. Names that fold alike could be read as the same.
 */
export function foldName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  return name.toUpperCase().toLowerCase().replace(DOT_ABOVE, '');
}
