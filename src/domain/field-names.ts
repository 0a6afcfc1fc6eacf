import { type GatewayError, invalidJson } from './errors.ts';

/** Matches names of ASCII characters only, which fold to their lower case. */
const ASCII = /^[\0-\x7f]*$/;
/** Combining dot above, which `İ` leaves behind when it is put into lower case. */
const DOT_ABOVE = /\u0307/g;

/**
 * UTF-16 units of the longest name that is worth folding: none that is looked for is longer, and no decoder takes a longer
 * name for a shorter one. A client chooses how many names it sends, and how long.
 */
const LONGEST_FOLDED = 48;

/** What was folded last: a client can send one name a hundred thousand times. */
const FOLDED = new Map<string, string>();
const MOST_FOLDED = 1_000;

/**
 * Folds a name so that two names that any decoder could take for the same become equal. Decoders that ignore case
 * differ: Go folds `ſ` (U+017F) to s and `K` (U+212A) to k, Java compares by upper and by lower case (`ı` and `İ` are
 * i), Python folds `ß` to ss and `ﬆ` to st.
 */
export function foldName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  if (name.length > LONGEST_FOLDED) return name;
  const known = FOLDED.get(name);
  if (known !== undefined) return known;
  const folded = name.toUpperCase().toLowerCase().replace(DOT_ABOVE, '');
  if (FOLDED.size >= MOST_FOLDED) FOLDED.clear();
  FOLDED.set(name, folded);
  return folded;
}

/** The 400 `invalid_json` for a name that some upstreams take for `folded`. `param`: the field of the request that has it. */
export function otherCase(where: string, name: string, folded: string, param = folded): GatewayError {
  return invalidJson(
    `${where} has the field ${JSON.stringify(name.slice(0, 100))}, which can be read as "${folded}". Write it in lowercase.`,
    param,
  );
}
