/**
 * Finds the ends of JSON strings and values, for readers that look for single members without JSON.parse. Works on
 * decoded text and on Latin-1 bytes (one character a byte): no UTF-8 byte of a longer character is a quote or a
 * backslash.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Characters compared one by one before a native search, which costs about 20 comparisons. */
const COMPARED_CHARS = 32;

/**
 * Index of the quote that closes a string, from `from`, which must not be within an escape; -1 if the text ends first.
 * Searches natively, which is best for streams: short words, or megabytes of base64.
 */
export function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote >= 0 && isEscaped(text, quote, from)) quote = text.indexOf('"', quote + 1);
  return quote;
}

/**
 * `closingQuote` for text that may have very many escapes, such as prompts with code. A search per escaped quote would
 * let a client burn CPU time, so each search follows some single comparisons.
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
 * Whether an odd number of backslashes precedes `at`. `from`: the start of the string, or its continuation after an
 * escape. `at` may be the length of the text: the next character.
 */
export function isEscaped(text: string, at: number, from: number): boolean {
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Index of the first character from `from` on that isn't JSON white space, at most the length of the text. */
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

/**
 * Index after a number, true, false or null, which a comma, a closing bracket, white space or the end of the text ends.
 */
function scalarEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY) break;
  }
  return at;
}
