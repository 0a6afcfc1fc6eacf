import { randomInt } from 'node:crypto';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { closingQuoteByte } from '../../../metering/json-lexer.ts';

/** Most bytes of JSON that is not measured, because JSON.parse takes 5 ms for it at worst. */
export const UNMEASURED_BYTES = 64 * 1024;
/**
 * Most weighted parts (values, names, lists, objects) of a body, so that no step of parsing and checking it takes long.
 * Measured with `node bench/worst-json.ts` (Node 24.21): JSON.parse takes 20 to 140 ns for a part, of which the dearest
 * kinds count more (WEIGHTS), and 600 to 1,000 ns for each new name. A history of 10,000 messages with tools weighs
 * 275,000, a prompt of 300,000 token numbers 300,000.
 */
export const MAX_PARTS = 400_000;
const MAX_NAMES = 10_000;
/**
 * Most levels of nesting. JSON.parse takes 140 ns for each, and more where it must grow its stack: 40 ms for 130,000
 * levels, 3 ms for these.
 */
export const MAX_DEPTH = 20_000;
/** Parts from which on a body is parsed and checked in heavy steps (heavy-step.ts); JSON.parse takes 2 ms for these. */
const HEAVY_PARTS = 20_000;
const HEAVY_NAMES = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
// Meanings of a byte outside of strings; 0 is any other byte.
const COMMA = 1;
const COLON = 2;
const OPEN = 3;
const CLOSE = 4;
const SIGNS = new Uint8Array(256);
for (const [sign, meaning] of [
  [',', COMMA],
  [':', COLON],
  ['{', OPEN],
  ['[', OPEN],
  ['}', CLOSE],
  [']', CLOSE],
] as const)
  SIGNS[sign.charCodeAt(0)] = meaning;
/** Weights by meaning: each comma means one more value and each colon a name; an opened list or object costs three. */
const WEIGHTS = [0, 1, 1, 3, 0] as const;

/**
 * Weight of an elided string, which takes 0.9 KB of memory. A body of 45 MB can hold 87,000 of them; with this weight
 * 57,000 are accepted.
 */
const ELIDED_PARTS = 6;

/** Bytes of the longest name that is compared with earlier ones; each longer one counts as a new name. */
const TOLD_APART_BYTES = 48;
const LONG = -1;
/** Size of the table of names by their hash, as a power of two: so large that few of MAX_NAMES share a place. */
const PLACE_BITS = 18;
/** Random seed of the hash, so that a client cannot make up names with the same hash. */
const SEED = randomInt(2 ** 31);

/**
 * Counter of the values, names and levels of JSON, from its bytes, before it is parsed: 2 ms a megabyte at worst. The
 * counts of text that is no JSON mean nothing, which does no harm, since JSON.parse refuses that.
 */
export class JsonMeasure {
  #parts = 0;
  #depth = 0;
  #deepest = 0;
  #names = 0;
  readonly #noted = new Uint8Array(2 ** (PLACE_BITS - 3));
  /** Hash of the last string, which is a name if a colon follows; LONG where the string was too long to compare. */
  #lastString = LONG;

  get isHeavy(): boolean {
    return this.#parts > HEAVY_PARTS || this.#names > HEAVY_NAMES;
  }

  /** Throws 413 `body_too_large`, or 400 `invalid_json` for what is nested too deep. */
  check(): void {
    if (this.#deepest > MAX_DEPTH) throw invalidJson(`The body is nested deeper than ${MAX_DEPTH} levels.`);
    if (this.#parts > MAX_PARTS) {
      throw tooLarge(
        `too many parts: at most ${MAX_PARTS} values and names are taken, of which a list or object counts as three`,
      );
    }
    if (this.#names > MAX_NAMES) throw tooLarge(`too many different names: at most ${MAX_NAMES} are taken`);
  }

  /** Adds what an elided string weighs beyond any other value. */
  countElided(): void {
    this.#parts += ELIDED_PARTS;
  }

  /**
   * Index of the quote that opens the next string at or after `from`, which must be outside of strings; the length of
   * `bytes` where there is none.
   */
  toQuote(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return at;
      const meaning = SIGNS[byte] as number;
      if (meaning === 0) continue;
      this.#parts += WEIGHTS[meaning] as number;
      if (meaning === COLON) this.#note();
      else if (meaning === OPEN) this.#deepest = Math.max(this.#deepest, ++this.#depth);
      else if (meaning === CLOSE) this.#depth--;
    }
    return bytes.length;
  }

  /** Index of the quote that closes the string whose content begins at `from`; -1 where it is not in these bytes. */
  toClose(bytes: Buffer, from: number): number {
    const last = Math.min(bytes.length, from + TOLD_APART_BYTES);
    let hash = SEED;
    let at = from;
    for (; at < last; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#lastString = hash & 0x7fffffff;
        return at;
      }
      hash = Math.imul(hash ^ byte, 0x01000193);
      if (byte === BACKSLASH) {
        at++;
        hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
      }
    }
    this.#lastString = LONG;
    return closingQuoteByte(bytes, at);
  }

  #note(): void {
    const hash = this.#lastString;
    if (hash === LONG) {
      this.#names++;
      return;
    }
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const place = (mixed ^ (mixed >>> 12)) >>> (32 - PLACE_BITS);
    const bit = 1 << (place & 7);
    const byte = this.#noted[place >>> 3] as number;
    if ((byte & bit) !== 0) return;
    this.#noted[place >>> 3] = byte | bit;
    this.#names++;
  }
}

function tooLarge(what: string): GatewayError {
  return new GatewayError('body_too_large', `The body has ${what}.`);
}

/** Measures JSON that is in memory as a whole. Throws 413 `body_too_large` or 400 `invalid_json`, as `check` does. */
export function measureJson(bytes: Buffer): JsonMeasure {
  const measure = new JsonMeasure();
  for (let at = 0; at < bytes.length; ) {
    const open = measure.toQuote(bytes, at);
    if (open === bytes.length) break;
    const close = measure.toClose(bytes, open + 1);
    if (close < 0) break;
    at = close + 1;
  }
  measure.check();
  return measure;
}
