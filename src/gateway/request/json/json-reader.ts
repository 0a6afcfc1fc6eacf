import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, WINDOW_BYTES } from '../../../metering/byte-source.ts';
import { ElidedString, ElidedStrings } from '../../../metering/json/elided-strings.ts';
import { JsonCounts } from './json-counts.ts';
import { decoded, NamesWithin } from './names-within.ts';
import { NotJson } from './not-json.ts';
import { CLOSE, COLON, COMMA, freeEnd, OPEN_OBJECT, QUOTE, searchable, stringEnd, TOKENS } from './scan.ts';

/** Maximum bytes of a kept string. Relevant ids and names fit even if fully escaped. */
const MAX_KEPT_STRING_BYTES = 512;
/** Minimum bytes for eliding a value with free names; JSON.parse is faster for shorter ones. */
const LONG_FREE_BYTES = 128;
/** Maximum bytes of a body kept whole; there, JSON.parse is faster than placeholders. */
const KEPT_WHOLE_BYTES = 8 * 1024;
/**
 * Maximum MiB of the text without long strings: beyond, JSON.parse would take over 20 ms, and twice its size in memory.
 */
const MAX_KEPT_MIB = 6;
/** Bytes from which the text without long strings is parsed and checked in heavy steps. */
const HEAVY_KEPT_BYTES = 1024 * 1024;

// Markers for the position of no name, and of an elided one.
const NO_NAME = 0;
const LONG_NAME = -1;

/** Offsets of a member's value: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Names of the outermost object that a reader looks for. */
export interface RootNames {
  /**
   * Receives each name in turn; `isEscaped`: it is written with escapes. Returns whether the position of its value is
   * needed. Throws GatewayError for forbidden names.
   */
  take(name: string, isEscaped: boolean): boolean;
}

/** A JSON body without its long strings. The text is valid JSON if and only if the body is. */
export interface ReadJson {
  /** Bytes of the body. */
  readonly size: number;
  /** Latin-1: one character per byte. */
  readonly text: string;
  /** Undefined without long strings. */
  readonly elidedStrings: ElidedStrings | undefined;
  /** Bytes of values with free names (schemas) that the text lacks. */
  readonly skippedBytes: number;
  /** True if parsing and checking the text take so long that other calls should run in between. */
  readonly isHeavy: boolean;
  /** Span of a wanted member of the outermost object. */
  spanOf(name: string): Span | undefined;
  readonly openAt: number;
  readonly isEmpty: boolean;
  /** Byte offset in the body of the character at `index` of `text`, which must be outside placeholders. */
  offsetOf(index: number): number;
  /** Parses the text. Throws 400 `invalid_json` if its value is not an object. */
  parse(): Record<string, unknown>;
}

/** Reads a body in memory. Throws like JsonReader. */
export function readJson(bytes: Buffer, names: RootNames): ReadJson {
  if (!isUtf8(bytes)) throw invalidJson('The request body is not valid UTF-8.');
  const reader = new JsonReader(names, bytes);
  try {
    reader.push(bytes, 0, true);
    return reader.end(bytes.length);
  } catch (error) {
    throw error instanceof NotJson ? new NotJson(bytes) : error;
  }
}

/** Reads a body in chunks, so that other calls run in between. Throws like JsonReader. */
export async function readJsonInPieces(source: ByteSource, names: RootNames): Promise<ReadJson> {
  const reader = new JsonReader(names);
  let windowBytes = WINDOW_BYTES;
  for (let at = 0; at < source.size; ) {
    const window = await source.read(at, at + windowBytes);
    const isLast = at + window.length === source.size;
    const whole = isLast ? window : window.subarray(0, characterEnd(window));
    if (whole.length === 0 || !isUtf8(whole)) throw invalidJson('The request body is not valid UTF-8.');
    const taken = reader.push(whole, at, isLast);
    if (isLast) break;
    at += taken;
    // A name and the byte after it must be in the same window.
    windowBytes = taken === 0 ? 2 * windowBytes : WINDOW_BYTES;
  }
  return reader.end(source.size);
}

/**
 * Reads JSON bytes in one pass. Keeps the structure and short strings; checks long strings (base64, documents, tool
 * results) and replaces them by placeholders. Counts the cost of parsing, refuses names that could be read in two ways
 * (names-within.ts), and finds the members of the outermost object.
 *
 * Throws 400 `invalid_json` for an invalid long string (JSON.parse finds all other errors) or for such names, and 413
 * `body_too_large` for a body that would take too long to parse.
 */
class JsonReader {
  readonly #rootNames: RootNames;
  /** The whole body, if in memory. */
  readonly #body: Buffer | undefined;
  #keptStringBytes = MAX_KEPT_STRING_BYTES;
  readonly #counts = new JsonCounts();
  readonly #names = new NamesWithin(this.#counts);
  #elidedStrings: ElidedStrings | undefined;
  #skippedBytes = 0;
  readonly #kept: string[] = [];
  #length = 0;
  #isAscii = true;
  /** A long string that began in an earlier window. */
  #long: ElidedString | undefined;
  #longAt = 0;
  /** Pairs of offsets, one for the end of each placeholder: in the kept text and in the body. */
  readonly #marks: number[] = [0];
  readonly #offsets: number[] = [0];
  readonly #spans = new Map<string, Span>();
  /** The wanted member being read. */
  #wanted: { readonly name: string; readonly start: number } | undefined;
  #openAt = -1;
  #isEmpty = true;
  /** Position of the window's last string, without quotes, if a colon may make it a name. */
  #nameFrom = NO_NAME;
  #nameEnd = 0;
  /** True if the next value is the type of a checked object. */
  #isType = false;

  constructor(rootNames: RootNames, bytes?: Buffer) {
    this.#rootNames = rootNames;
    this.#body = bytes;
    if (bytes && bytes.length <= KEPT_WHOLE_BYTES) this.#keptStringBytes = KEPT_WHOLE_BYTES;
  }

  /**
   * Takes bytes that begin at `offset` of the body and returns how many it consumed. A short string that is cut off, or
   * that could be a name, must come again, whole, with the next bytes.
   */
  push(window: Buffer, offset: number, isLast: boolean): number {
    const search = searchable(window);
    const { bytes } = search;
    const { length } = bytes;
    let from = 0;
    let at = 0;
    if (this.#long) {
      const close = stringEnd(search, 0);
      this.#long.push(bytes.toString('utf8', 0, close < 0 ? ~close : close));
      if (close < 0) return ~close;
      this.#endLong(this.#long, offset + close);
      from = close;
      at = close + 1;
    }
    for (; at < length; at++) {
      const token = TOKENS[bytes[at] as number];
      if (token === 0) continue;
      if (token === QUOTE) {
        const close = stringEnd(search, at + 1);
        const end = close < 0 ? ~close : close;
        if (end - at > this.#keptStringBytes) {
          this.#keep(bytes, from, at + 1);
          this.#long = this.#longString(bytes, at + 1, close, offset);
          this.#isType = false;
          if (close < 0) return end;
          this.#endLong(this.#long, offset + close);
          from = close;
        } else {
          // A cut-off string comes again. JSON.parse refuses one that never ends.
          if (close < 0) return this.#keep(bytes, from, isLast ? length : at);
          this.#short(bytes, at + 1, close);
        }
        at = end;
      } else {
        if (token === COMMA) this.#comma(from, at);
        else if (token === COLON) this.#colon(bytes, from, at);
        else if (token === CLOSE) this.#close(from, at);
        else if (this.#body && this.#names.isFreeNext) {
          const end = freeEnd(search, at, this.#counts);
          if (end - at > LONG_FREE_BYTES) {
            this.#keep(bytes, from, at + 1);
            this.#skippedBytes += end - at;
            from = end;
            this.#mark(end);
          }
          at = end;
        } else this.#open(token === OPEN_OBJECT, from, at);
        this.#nameFrom = NO_NAME;
      }
    }
    // If a colon follows in the next window, the last string is a name.
    const end = isLast || this.#nameFrom <= NO_NAME ? length : this.#nameFrom - 1;
    if (end < length) this.#nameFrom = NO_NAME;
    return this.#keep(bytes, from, end);
  }

  end(size: number): ReadJson {
    if (this.#long) throw new NotJson();
    const text = this.#kept.length === 1 ? (this.#kept[0] as string) : this.#kept.join('');
    const marks = this.#marks;
    const offsets = this.#offsets;
    const spans = this.#spans;
    const isAsciiText = this.#isAscii;
    const body = this.#body;
    return {
      size,
      text,
      elidedStrings: this.#elidedStrings,
      skippedBytes: this.#skippedBytes,
      isHeavy: this.#counts.isHeavy || this.#length > HEAVY_KEPT_BYTES,
      spanOf(name) {
        const span = spans.get(name);
        return span && withoutSpace(text, span);
      },
      openAt: this.#openAt,
      isEmpty: this.#isEmpty,
      offsetOf(index) {
        const mark = marks.findLastIndex((one) => one <= index);
        return (offsets[mark] ?? 0) + index - (marks[mark] ?? 0);
      },
      parse: () => parseObject(isAsciiText ? text : Buffer.from(text, 'latin1').toString(), body),
    };
  }

  #short(bytes: Buffer, from: number, end: number): void {
    this.#nameFrom = from;
    this.#nameEnd = end;
    if (!this.#isType) return;
    this.#names.type(bytes.toString('latin1', from, end));
    this.#isType = false;
  }

  #colon(bytes: Buffer, from: number, at: number): void {
    const nameFrom = this.#nameFrom;
    const nameEnd = this.#nameEnd;
    if (nameFrom === NO_NAME) throw new NotJson();
    this.#isType = false;
    this.#counts.name(bytes, nameFrom, nameEnd);
    if (this.#counts.depth === 1) this.#rootName(bytes, nameFrom, nameEnd, this.#indexOf(from, at + 1));
    else if (nameFrom === LONG_NAME) this.#names.longName();
    else if (this.#names.isChecking) this.#isType = this.#names.name(bytes, nameFrom, nameEnd);
  }

  #rootName(bytes: Buffer, from: number, end: number, start: number): void {
    this.#isEmpty = false;
    if (from === LONG_NAME) {
      this.#names.root('');
      return;
    }
    const raw = bytes.toString('latin1', from, end);
    const isEscaped = raw.includes('\\');
    const name = isEscaped || !isAscii(bytes.subarray(from, end)) ? decoded(raw) : raw;
    this.#names.root(name);
    if (this.#rootNames.take(name, isEscaped)) this.#wanted = { name, start };
  }

  #comma(from: number, at: number): void {
    this.#counts.comma();
    if (this.#wanted && this.#counts.depth === 1) this.#endWanted(from, at);
  }

  #open(isObject: boolean, from: number, at: number): void {
    if (this.#openAt < 0) this.#openAt = this.#indexOf(from, at);
    this.#counts.open();
    this.#names.open(isObject);
  }

  #close(from: number, at: number): void {
    if (this.#wanted && this.#counts.depth === 1) this.#endWanted(from, at);
    this.#counts.close();
    this.#names.close();
  }

  #endWanted(from: number, at: number): void {
    const { name, start } = this.#wanted as { name: string; start: number };
    this.#spans.set(name, { start, end: this.#indexOf(from, at) });
    this.#wanted = undefined;
  }

  /** Index in the kept text of a byte of the window, which is kept up to `from`. */
  #indexOf(from: number, at: number): number {
    return this.#length + at - from;
  }

  /** Appends bytes to the kept text and returns `end`. Throws 413 `body_too_large` beyond its bound. */
  #keep(bytes: Buffer, from: number, end: number): number {
    this.#length += end - from;
    if (this.#length > MAX_KEPT_MIB * 1024 * 1024) {
      throw new GatewayError(
        'body_too_large',
        `The request body has more than ${MAX_KEPT_MIB} MiB outside strings of over ${MAX_KEPT_STRING_BYTES} bytes.`,
      );
    }
    this.#kept.push(bytes.toString('latin1', from, end));
    this.#isAscii &&= isAscii(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end));
    return end;
  }

  /** The long string that begins at `from`; `close` is its end, or the complement of the part in this window. */
  #longString(bytes: Buffer, from: number, close: number, offset: number): ElidedString {
    this.#longAt = offset + from;
    this.#elidedStrings ??= new ElidedStrings();
    this.#counts.elided();
    if (this.#body && close >= 0) return new ElidedString(this.#body.subarray(offset + from, offset + close));
    return new ElidedString(bytes.toString('utf8', from, close < 0 ? ~close : close));
  }

  #endLong(long: ElidedString, offset: number): void {
    this.#long = undefined;
    this.#nameFrom = LONG_NAME;
    this.#nameEnd = LONG_NAME;
    long.place = { start: this.#longAt, end: offset };
    const placeholder = (this.#elidedStrings as ElidedStrings).add(long);
    this.#kept.push(placeholder);
    this.#length += placeholder.length;
    this.#mark(offset);
  }

  /** Records that the kept text continues with the byte at `offset` of the body. */
  #mark(offset: number): void {
    this.#marks.push(this.#length);
    this.#offsets.push(offset);
  }
}

/** Trims the span to the value. */
function withoutSpace(text: string, { start, end }: Span): Span {
  const value = text.slice(start, end);
  const before = value.length - value.trimStart().length;
  return { start: start + before, end: start + value.trimEnd().length };
}

/** Parses JSON text whose value must be an object. `body`: the whole, if in memory. Throws 400 `invalid_json`. */
export function parseObject(text: string, body?: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotJson(body);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidJson('The request body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

/** Largest cut of `bytes` that splits no character. They begin with a whole one. */
function characterEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
