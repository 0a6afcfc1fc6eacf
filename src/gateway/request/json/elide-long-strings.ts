import { isUtf8 } from 'node:buffer';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, WINDOW_BYTES } from '../../../metering/byte-source.ts';
import { ElidedString, ElidedStrings } from '../../../metering/elided-strings.ts';
import { closingQuoteByte, isEscapedByte } from '../../../metering/json-lexer.ts';
import { JsonMeasure } from './json-measure.ts';

const BACKSLASH = 0x5c;
/** Bytes of the longest string that is not elided. Ids and names that are looked for fit even if fully escaped. */
const KEPT_STRING_MAX_BYTES = 512;
/**
 * Most MiB of the text without its long strings: JSON.parse would take over 20 ms for more, and twice its size in
 * memory.
 */
const KEPT_MAX_MIB = 6;
/** Bytes from which on the text without its long strings is parsed and checked in heavy steps (heavy-step.ts). */
const HEAVY_KEPT_BYTES = 1024 * 1024;
/** Bytes of the longest escape, `\uXXXX`. */
const ESCAPE_MAX_BYTES = 6;
/** Bytes of the body from which on an estimate of its tokens samples a share of its text and not all of it. */
const SAMPLED_BYTES = 4 * 1024 * 1024;

/** A JSON body without its long strings. The text is valid JSON if and only if the body is. */
export interface ElidedJson {
  readonly text: string;
  readonly elidedStrings: ElidedStrings;
  /** True where parsing and checking the text takes so long that other calls should run in between (heavy-step.ts). */
  readonly isHeavy: boolean;
  /** Byte offset in the body of the character at `index` of `text`, which must be outside of placeholders. */
  offsetOf(index: number): number;
}

/**
 * Reads JSON from a source in pieces and keeps its structure and its short strings. Long strings (base64, documents)
 * are checked as they pass and replaced by placeholders. Throws 400 `invalid_json` where a long string or the UTF-8 is
 * invalid (any other fault is left to JSON.parse), and 413 `body_too_large` where the remaining text is over 6 MiB.
 */
export async function elideLongStrings(source: ByteSource, keepsSamples = false): Promise<ElidedJson> {
  const sampled = keepsSamples ? Math.min(1, SAMPLED_BYTES / source.size) : 0;
  const elider = new Elider(sampled);
  for (let at = 0; at < source.size; ) {
    const window = await source.read(at, at + WINDOW_BYTES);
    const isLast = at + window.length === source.size;
    const whole = isLast ? window : window.subarray(0, cleanCut(window));
    if (whole.length === 0 || !isUtf8(whole)) throw invalidJson('The body is not valid UTF-8.');
    at += elider.push(whole, at, isLast);
  }
  return elider.end();
}

class Elider {
  readonly #sampled: number;
  readonly #measure = new JsonMeasure();
  readonly #elidedStrings = new ElidedStrings();
  #kept = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  #length = 0;
  /** The long string that began in an earlier window and has not ended yet. */
  #long: ElidedString | undefined;
  /** Pairs of offsets, one pair for the end of each placeholder: in the kept text, and in the body. */
  readonly #marks: number[] = [0];
  readonly #offsets: number[] = [0];

  constructor(sampled: number) {
    this.#sampled = sampled;
  }

  /**
   * Takes bytes that begin at `offset` of the body. Returns how many of them it took: a short string that they cut off
   * must come again, whole, with the next bytes.
   */
  push(bytes: Buffer, offset: number, isLast: boolean): number {
    let from = 0;
    let at = 0;
    if (this.#long) {
      const close = closingQuoteByte(bytes, 0);
      this.#long.push(bytes.toString('utf8', 0, close < 0 ? bytes.length : close));
      if (close < 0) return bytes.length;
      this.#endLong(this.#long, offset + close);
      from = close;
      at = close + 1;
    }
    for (;;) {
      const open = this.#measure.toQuote(bytes, at);
      if (open === bytes.length) return this.#keep(bytes, from, open);
      const close = this.#measure.toClose(bytes, open + 1);
      const end = close < 0 ? bytes.length : close;
      if (end - open <= KEPT_STRING_MAX_BYTES) {
        // A string that the window cuts off comes whole with the next one. One that never ends is refused by
        // JSON.parse.
        if (close < 0) return this.#keep(bytes, from, isLast ? end : open);
        at = close + 1;
        continue;
      }
      this.#keep(bytes, from, open + 1);
      this.#long = new ElidedString(bytes.toString('utf8', open + 1, end), this.#sampled);
      if (close < 0) return bytes.length;
      this.#endLong(this.#long, offset + close);
      from = close;
      at = close + 1;
    }
  }

  end(): ElidedJson {
    if (this.#long) throw invalidJson('The body is not valid JSON.');
    const text = this.#kept.toString('utf8', 0, this.#length);
    const marks = this.#marks;
    const offsets = this.#offsets;
    return {
      text,
      elidedStrings: this.#elidedStrings,
      isHeavy: this.#measure.isHeavy || this.#length > HEAVY_KEPT_BYTES,
      offsetOf(index) {
        const place = Buffer.byteLength(text.slice(0, index));
        const mark = marks.findLastIndex((one) => one <= place);
        return (offsets[mark] ?? 0) + place - (marks[mark] ?? 0);
      },
    };
  }

  /** Appends bytes to the kept text. Throws 413 `body_too_large` beyond its bound. */
  #keep(bytes: Buffer, from: number, end: number): number {
    this.#measure.check();
    const length = this.#length + end - from;
    if (length > KEPT_MAX_MIB * 1024 * 1024) {
      throw new GatewayError(
        'body_too_large',
        `Beside its strings of more than ${KEPT_STRING_MAX_BYTES} bytes the body has more than ${KEPT_MAX_MIB} MiB.`,
      );
    }
    if (length > this.#kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#kept.length));
      this.#kept.copy(larger, 0, 0, this.#length);
      this.#kept = larger;
    }
    bytes.copy(this.#kept, this.#length, from, end);
    this.#length = length;
    return end;
  }

  #endLong(long: ElidedString, offset: number): void {
    this.#measure.countElided();
    this.#long = undefined;
    const placeholder = Buffer.from(JSON.stringify(this.#elidedStrings.add(long)).slice(1, -1));
    this.#keep(placeholder, 0, placeholder.length);
    this.#marks.push(this.#length);
    this.#offsets.push(offset);
  }
}

/** Largest length to which `bytes` can be cut without cutting a character or an escape. They begin with a whole one. */
function cleanCut(bytes: Buffer): number {
  let cut = bytes.length;
  // Goes back over a character that the end cuts: at most three of its bytes are here.
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
  // A backslash that is itself escaped begins no escape.
  return isEscapedByte(bytes, slash, 0) ? cut : slash;
}
