/**
 * Where strings and values of JSON end, for readers that look for single members without JSON.parse. Text is a
 * JavaScript string: decoded text, or bytes as Latin-1 (one character a byte), which works too because no UTF-8 byte of
 * a longer character is a quote or a backslash.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Characters that are compared one by one before a native search, which costs about 20 comparisons. */
const COMPARED_CHARS = 32;

/**
 * Index of the quote that closes the string whose content goes on at `from`, which is not within an escape; -1 if
 * the text ends before it. Searches natively, which is best for what passes in pieces: short words, or megabytes of
 * base64.
 */
export function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote >= 0 && isEscaped(text, quote, from)) quote = text.indexOf('"', quote + 1);
  return quote;
}

/**
 * `closingQuote`, for text that may have very many escapes, as prompts with code have. A search for each escaped quote
 * would let a client spend our time, so some characters are compared before each search.
 */
export function closingQuoteAmongEscapes(text: string, from: number): number {
  for (let at = from; at < text.length; ) {
    for (const last = Math.min(text.length, at + COMPARED_CHARS); at < last; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at;
      if (code === BACKSLASH) at++;
    }
    const quote = text.indexOf('"', at);
    if (quote < 0) return -1;
    if (!isEscaped(text, quote, at)) return quote;
    at = quote + 1;
  }
  return -1;
}

/**
 * Whether the character at `at` of a string is escaped: an odd number of backslashes stands before it. `from`: where the
 * content of the string begins, or goes on after an escape. `at` may be the length of the text: the next character.
 */
export function isEscaped(text: string, at: number, from: number): boolean {
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Index of the first character from `from` on that is no white space of JSON; the length of the text at most. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

/** Index after the value that begins at `from`, in text that JSON.parse has accepted. */
export function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return closingQuoteAmongEscapes(text, from + 1) + 1;
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scalarEnd(text, from);
  let depth = 0;
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuoteAmongEscapes(text, at + 1);
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return at + 1;
  }
}

/** Index after a number, true, false or null: at a comma, a closing bracket, white space or the end of the text. */
function scalarEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY) break;
  }
  return at;
}
