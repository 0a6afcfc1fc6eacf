import { isUtf8 } from 'node:buffer';
import { invalidJson } from '../body.ts';
import { type ByteSource, WINDOW_BYTES } from '../upload/byte-source.ts';
import { LongText } from './long-text.ts';
import { LongTexts } from './long-texts.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Longer strings are not kept. Longer than any name that is looked for, however it is escaped. */
const KEPT_MAX_BYTES = 4 * 1024;
/** `\uXXXX` */
const ESCAPE_MAX_BYTES = 6;

/** A body of JSON without its long strings, for JSON.parse to judge: it is valid if and only if the body is. */
export interface Condensed {
  readonly text: string;
  readonly longTexts: LongTexts;
  /** Where a character of `text` stands in the body, in bytes; for one outside of the stand-ins. */
  offsetOf(index: number): number;
}

/**
 * Reads JSON from a source in pieces and keeps what decides: its structure and its short strings. Long strings (base64,
 * documents) are checked as they pass and replaced by stand-ins. Throws 400 `invalid_json` where a long string, or the
 * encoding of any part, is invalid; what else is, JSON.parse finds.
 */
export async function condense(source: ByteSource, keepsSamples = false): Promise<Condensed> {
  const condenser = new Condenser(keepsSamples);
  for (let at = 0; at < source.size; ) {
    const window = await source.read(at, at + WINDOW_BYTES);
    const isLast = at + window.length === source.size;
    const whole = isLast ? window : window.subarray(0, cleanCut(window));
    if (whole.length === 0 || !isUtf8(whole)) throw invalidJson('The body is not valid UTF-8.');
    at += condenser.push(whole, at, isLast);
  }
  return condenser.end();
}

class Condenser {
  readonly #keepsSamples: boolean;
  readonly #longTexts = new LongTexts();
  #text = '';
  /** The string that the last window ended in. */
  #long: LongText | undefined;
  /** Where the text goes on after a stand-in, in itself and in the body. */
  readonly #marks: { readonly index: number; readonly offset: number }[] = [{ index: 0, offset: 0 }];

  constructor(keepsSamples: boolean) {
    this.#keepsSamples = keepsSamples;
  }

  /** Takes the bytes that stand at `offset`, or as many as there are before a string that should be seen whole. */
  push(bytes: Buffer, offset: number, isLast: boolean): number {
    let from = 0;
    let at = 0;
    if (this.#long) {
      const close = closingQuote(bytes, 0);
      this.#long.push(bytes.toString('utf8', 0, close < 0 ? bytes.length : close));
      if (close < 0) return bytes.length;
      this.#endLong(this.#long, offset + close);
      from = close;
      at = close + 1;
    }
    for (;;) {
      const open = bytes.indexOf(QUOTE, at);
      if (open < 0) return this.#keep(bytes, from, bytes.length);
      const close = closingQuote(bytes, open + 1);
      const end = close < 0 ? bytes.length : close;
      if (end - open <= KEPT_MAX_BYTES) {
        // One that is cut off comes whole with the next window; of one that never ends JSON.parse finds the fault.
        if (close < 0) return this.#keep(bytes, from, isLast ? end : open);
        at = close + 1;
        continue;
      }
      this.#keep(bytes, from, open + 1);
      this.#long = new LongText(bytes.toString('utf8', open + 1, end), this.#keepsSamples);
      if (close < 0) return bytes.length;
      this.#endLong(this.#long, offset + close);
      from = close;
      at = close + 1;
    }
  }

  end(): Condensed {
    if (this.#long) throw invalidJson('The body is not valid JSON.');
    const text = this.#text;
    const marks = this.#marks;
    return {
      text,
      longTexts: this.#longTexts,
      offsetOf(index) {
        const mark = marks.findLast((one) => one.index <= index) ?? { index: 0, offset: 0 };
        return mark.offset + Buffer.byteLength(text.slice(mark.index, index));
      },
    };
  }

  #keep(bytes: Buffer, from: number, end: number): number {
    this.#text += bytes.toString('utf8', from, end);
    return end;
  }

  #endLong(long: LongText, offset: number): void {
    this.#long = undefined;
    this.#text += JSON.stringify(this.#longTexts.add(long)).slice(1, -1);
    this.#marks.push({ index: this.#text.length, offset });
  }
}

/** The quote that ends a string whose content goes on at `from`, which is not within an escape; -1: not here. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (at - slashes > from && bytes[at - slashes - 1] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** Where bytes that begin clean can be cut so that neither a character nor an escape is. */
function cleanCut(bytes: Buffer): number {
  let cut = bytes.length;
  // Back over an unfinished character: at most three bytes of it are here.
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (length > back) cut = bytes.length - back;
      break;
    }
  }
  const slash = bytes.lastIndexOf(BACKSLASH, cut - 1);
  if (slash < 0 || slash + ESCAPE_MAX_BYTES <= cut) return cut;
  let first = slash;
  while (first > 0 && bytes[first - 1] === BACKSLASH) first--;
  // The second of a pair begins nothing.
  return (slash - first) % 2 === 1 ? cut : slash;
}
