import { invalidJson } from '../../../domain/errors.ts';

// Meanings of a byte within a string; 0 is any other byte.
const QUOTE = 1;
const ESCAPE = 2;
const CONTROL = 3;
const WITHIN = new Uint8Array(256).fill(CONTROL, 0, 0x20);
WITHIN['"'.charCodeAt(0)] = QUOTE;
WITHIN['\\'.charCodeAt(0)] = ESCAPE;

// Meanings of the byte after a backslash.
const SHORT = 1;
const HEX = 2;
const ESCAPED = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPED[letter.charCodeAt(0)] = SHORT;
ESCAPED['u'.charCodeAt(0)] = HEX;
const HEX_DIGITS = 4;
const IS_HEX = new Uint8Array(256);
for (const digit of '0123456789abcdefABCDEF') IS_HEX[digit.charCodeAt(0)] = 1;

/** Bytes of JSON, also as words of four bytes, which are searched twice as fast. */
export interface Searchable {
  readonly bytes: Buffer;
  readonly words: Int32Array;
}

/** The bytes are copied if they are not aligned; a body is. */
export function searchable(bytes: Buffer): Searchable {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  return { bytes: aligned, words: new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2) };
}

/**
 * Index of the quote that closes the string whose content goes on at `from`, outside of an escape. If the string does not
 * end in these bytes, `~index`, where `index` is that of the first byte that was not read: the length, or that of an escape
 * that is cut off. Throws 400 `invalid_json` for a string that JSON.parse refuses.
 */
export function stringEnd({ bytes, words }: Searchable, from: number): number {
  const { length } = bytes;
  let at = from;
  for (;;) {
    at = nextSpecial(bytes, words, at);
    if (at === length) return ~at;
    const meaning = WITHIN[bytes[at] as number];
    if (meaning === QUOTE) return at;
    if (meaning === CONTROL) throw invalidJson('The body is not valid JSON.');
    if (at + 1 === length) return ~at;
    const escaped = ESCAPED[bytes[at + 1] as number];
    if (escaped === SHORT) at += 2;
    else if (escaped === HEX) {
      const last = Math.min(length, at + 2 + HEX_DIGITS);
      for (let digit = at + 2; digit < last; digit++)
        if (IS_HEX[bytes[digit] as number] !== 1) throw invalidJson('The body is not valid JSON.');
      if (last < at + 2 + HEX_DIGITS) return ~at;
      at = last;
    } else throw invalidJson('The body is not valid JSON.');
  }
}

/** Index of the next quote, backslash or control character at or after `from`; the length if there is none. */
function nextSpecial(bytes: Buffer, words: Int32Array, from: number): number {
  const { length } = bytes;
  let at = from;
  for (const aligned = Math.min(length, (from + 3) & ~3); at < aligned; at++)
    if (WITHIN[bytes[at] as number] !== 0) return at;
  let word = at >> 2;
  for (; word < words.length; word++) {
    // The highest bit of each byte is set if the byte is below 0x20, a quote, or a backslash; of the bytes above such a
    // one it may be set by mistake.
    const four = words[word] as number;
    const quotes = four ^ 0x22222222;
    const slashes = four ^ 0x5c5c5c5c;
    const found =
      ((four - 0x20202020) & ~four) | ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes);
    if ((found & 0x80808080) !== 0) break;
  }
  for (at = Math.max(at, word << 2); at < length; at++) if (WITHIN[bytes[at] as number] !== 0) return at;
  return length;
}
