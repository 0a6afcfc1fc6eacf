import { foldName } from './json/fold-name.ts';

/** Where a member's value stands in the text: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds members of the outermost object of JSON text that JSON.parse has already accepted, so that single values can be
 * replaced while every other byte stays as it came (specification section 4).
 *
 * `names` are looked for exactly, but counted as `foldName` folds them, because some upstreams read `Model` as `model`.
 * `repeated` is the first of them that stands there twice, `otherCase` one that is spelled otherwise.
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
    const keyEnd = stringEnd(text, at);
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

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

/** So many characters are looked through here, since asking for the next quote takes as long as 20 of them do. */
const LOOKED_UNITS = 32;

/** Index after the closing quote of the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; ; ) {
    for (const last = at + LOOKED_UNITS; at < last; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) return at + 1;
      if (code === 0x5c) at++;
    }
    const quote = text.indexOf('"', at);
    let slashes = 0;
    while (quote - slashes > at && text.charCodeAt(quote - slashes - 1) === 0x5c) slashes++;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
}

function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === 0x22) return stringEnd(text, from);
  if (first !== 0x7b && first !== 0x5b) return scalarEnd(text, from);
  let depth = 0;
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = stringEnd(text, at);
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    at++;
    if (depth === 0) return at;
  }
}

/** Index after a number, true, false or null: at a comma, a closing bracket or white space. */
function scalarEnd(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === 0x2c || code === 0x7d || code === 0x5d) return at;
    at++;
  }
}
