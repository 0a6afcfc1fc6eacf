import { notJson } from './not-json.ts';

const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [0x22, 0x5c, 0x20];

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
  // Text of a program has an escape every 20 bytes: the search goes on in the middle of a word, which takes a third less
  // than a loop up to the next whole one.
  for (let word = at >> 2; word < words.length; word = at >> 2) {
    let found = specialsOf(words[word] as number) & (-1 << ((at & 3) << 3));
    while (found === 0 && ++word < words.length) found = specialsOf(words[word] as number);
    if (found === 0) break;
    at = (word << 2) + ((31 - Math.clz32(found & -found)) >> 3);
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    at = byte === BACKSLASH ? escapeEnd(bytes, at) : plainEnd(byte, at);
    if (at < 0) return at;
  }
  for (at = Math.max(at, words.length << 2); at < length; ) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    at = byte === BACKSLASH ? escapeEnd(bytes, at) : plainEnd(byte, at);
    if (at < 0) return at;
  }
  return ~length;
}

/**
 * The highest bit of each byte is set if the byte is below 0x20, a quote, or a backslash; of the bytes above such a one it
 * may be set by mistake.
 */
function specialsOf(four: number): number {
  const quotes = four ^ 0x22222222;
  const slashes = four ^ 0x5c5c5c5c;
  return (
    (((four - 0x20202020) & ~four) |
      ((quotes - 0x01010101) & ~quotes) |
      ((slashes - 0x01010101) & ~slashes)) &
    0x80808080
  );
}

/** Index after the escape at `at`; `~at` if these bytes cut it off. */
function escapeEnd(bytes: Buffer, at: number): number {
  const end = at + 2;
  if (end > bytes.length) return ~at;
  const escaped = ESCAPED[bytes[at + 1] as number];
  if (escaped === SHORT) return end;
  if (escaped !== HEX) throw notJson();
  const last = Math.min(bytes.length, end + HEX_DIGITS);
  for (let digit = end; digit < last; digit++) if (IS_HEX[bytes[digit] as number] !== 1) throw notJson();
  return last < end + HEX_DIGITS ? ~at : last;
}

function plainEnd(byte: number, at: number): number {
  if (byte < FIRST_PRINTABLE) throw notJson();
  return at + 1;
}
