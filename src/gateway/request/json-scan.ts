import { closingQuoteAmongEscapes, skipSpace, valueEnd } from '../../metering/json-lexer.ts';
import { foldName } from './json/fold-name.ts';

/** Offsets of a member's value in the text: it is `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds members of the outermost object of JSON text that JSON.parse has already accepted, so that single values can be
 * replaced while every other byte stays as it came (specification section 4).
 *
 * Names are compared with `names` as `foldName` folds them, because some upstreams read `Model` as `model`. In the
 * result, `repeated` is the first of the names that the object has twice, and `otherCase` a name that it spells in
 * another case.
 */
export function scanMembers(
  text: string,
  names: ReadonlySet<string>,
): { spans: Map<string, Span>; openAt: number; isEmpty: boolean; repeated?: string; otherCase?: string } {
  const spans = new Map<string, Span>();
  const seen = new Set<string>();
  let otherCase: string | undefined;
  const openAt = skipSpace(text, 0);
  let at = skipSpace(text, openAt + 1);
  const isEmpty = text[at] === '}';
  while (text[at] === '"') {
    const keyEnd = closingQuoteAmongEscapes(text, at + 1) + 1;
    const raw = text.slice(at + 1, keyEnd - 1);
    const key = raw.includes('\\') ? (JSON.parse(text.slice(at, keyEnd)) as string) : raw;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    const folded = foldName(key);
    if (names.has(folded)) {
      if (seen.has(folded)) return { spans, openAt, isEmpty, repeated: folded };
      seen.add(folded);
      if (key === folded) spans.set(key, { start, end });
      else otherCase = key;
    }
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return { spans, openAt, isEmpty, ...(otherCase === undefined ? {} : { otherCase }) };
}
