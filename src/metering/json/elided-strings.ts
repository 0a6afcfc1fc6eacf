import { randomUUID } from 'node:crypto';
import { invalidJson } from '../../domain/errors.ts';
import { tokensIn } from '../text-tokens.ts';

const BASE64 = /^[A-Za-z0-9+/_-]*(={0,2})$/;
/** UTF-16 units of each piece (at most 256 KiB, or a whole string in memory) that are read to estimate its tokens. */
const SAMPLED_UNITS = 4 * 1024;
/** Longest prefix that is kept: enough to recognize an image, and to quote an id in a message. */
const HEAD_UNITS = 64;

/** Facts that meters need of a JSON string too long to keep in memory, gathered while it streams. */
export class ElidedString {
  #isDataUrl = false;
  /** The whole string, if it is in memory and not yet read. */
  #unread: Buffer | undefined;
  #hasComma = false;
  #isBase64 = true;
  #padding = 0;
  #payloadUnits = 0;
  #pairs = 0;
  #endsInHalf = false;
  #units = 0;
  #bytes = 0;
  #tokens = 0;
  /** Position of the string in the body, without its quotes; set at its end. */
  place: { readonly start: number; readonly end: number } | undefined;
  /** Prefix of the string, as far as JSON needs no escapes for it. */
  readonly head: string;

  /**
   * `raw`: the string between its quotes. Text is the first piece, at least five characters. Bytes are the whole
   * string, valid JSON, and are read on first use; most strings are never read. Throws 400 `invalid_json`.
   */
  constructor(raw: string | Buffer) {
    if (typeof raw === 'string') {
      const text = decoded(raw);
      this.head = headOf(Buffer.from(raw.slice(0, HEAD_UNITS)));
      this.#isDataUrl = text.startsWith('data:');
      this.#add(text);
    } else {
      this.head = headOf(raw);
      this.#unread = raw;
    }
  }

  /** The string was used, or read while it streamed. */
  get isRead(): boolean {
    return this.#unread === undefined;
  }

  /** Adds the next piece, which splits no escape. Throws 400 `invalid_json`. */
  push(raw: string): void {
    this.#add(decoded(raw));
  }

  /** Unicode code points; a lone surrogate counts as one. */
  get characters(): number {
    this.#read();
    return this.#units - this.#pairs;
  }

  /** Units of base64, by the rules of `base64Length` for short strings. */
  get base64Length(): number {
    this.#read();
    return this.#isBase64 && (this.#hasComma || !this.#isDataUrl) ? this.#payloadUnits : 0;
  }

  /** UTF-8 bytes. */
  get bytes(): number {
    this.#read();
    return this.#bytes;
  }

  /** UTF-16 units. */
  get units(): number {
    this.#read();
    return this.#units;
  }

  /** Estimated tokens. */
  get tokens(): number {
    this.#read();
    return this.#tokens;
  }

  #read(): void {
    const raw = this.#unread;
    if (!raw) return;
    this.#unread = undefined;
    const text = decoded(raw.toString());
    this.#isDataUrl = text.startsWith('data:');
    this.#add(text);
  }

  #add(text: string): void {
    this.#units += text.length;
    this.#bytes += Buffer.byteLength(text);
    this.#pairs += surrogatePairs(text);
    if (this.#endsInHalf && /^[\udc00-\udfff]/.test(text)) {
      this.#pairs++;
      // Each half counted as U+FFFD, three bytes; together they are one character of four.
      this.#bytes -= 2;
    }
    if (text !== '') this.#endsInHalf = /[\ud800-\udbff]$/.test(text);
    this.#tokens += tokensIn(text, SAMPLED_UNITS);
    this.#addPayload(text);
  }

  #addPayload(text: string): void {
    let payload = text;
    if (this.#isDataUrl && !this.#hasComma) {
      const comma = text.indexOf(',');
      if (comma < 0) return;
      this.#hasComma = true;
      payload = text.slice(comma + 1);
    }
    if (!this.#isBase64 || payload === '') return;
    const padding = BASE64.exec(payload)?.[1]?.length;
    const isAfterPadding = this.#padding > 0 && padding !== payload.length;
    this.#padding += padding ?? 0;
    this.#payloadUnits += payload.length;
    this.#isBase64 = padding !== undefined && !isAfterPadding && this.#padding <= 2;
  }
}

/** Text without escapes except `\/`, which some clients write. */
const PLAIN_START = /^(?:[ !#-[\]-~]|\\\/)*/;

/** Plain-text prefix of a string, from the bytes between its quotes. */
function headOf(raw: Buffer): string {
  const [start = ''] = PLAIN_START.exec(raw.toString('latin1', 0, HEAD_UNITS)) ?? [];
  return start.replaceAll('\\/', '/');
}

function decoded(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    throw invalidJson('The request body is not valid JSON.');
  }
}

/**
 * Long strings of one body by placeholder, a short string that replaces each in the parsed value. A placeholder has a
 * random mark, so no client can forge one.
 */
export class ElidedStrings {
  readonly #mark = `<${randomUUID()}:`;
  readonly #texts = new Map<string, ElidedString>();

  /** Returns the string's placeholder, which needs no JSON escape: its prefix and a mark. */
  add(text: ElidedString): string {
    const placeholder = `${text.head}${this.#mark}${this.#texts.size}>`;
    this.#texts.set(placeholder, text);
    return placeholder;
  }

  get(placeholder: string): ElidedString | undefined {
    return this.#texts.get(placeholder);
  }

  /** Forgets all strings, except those read whose placeholder is among these values. */
  keepOnly(values: readonly unknown[]): void {
    const kept = new Set(values);
    for (const [placeholder, { isRead }] of this.#texts)
      if (!isRead || !kept.has(placeholder)) this.#texts.delete(placeholder);
  }

  /** Estimated tokens of a text with placeholders. */
  tokensIn(text: string): number {
    let tokens = 0;
    const rest: string[] = [];
    let from = 0;
    for (const [placeholder, long] of this.#within(text)) {
      rest.push(text.slice(from, placeholder.start));
      from = placeholder.end;
      tokens += long.tokens;
    }
    rest.push(text.slice(from));
    return tokens + tokensIn(rest.join(''));
  }

  *#within(text: string): Generator<[{ start: number; end: number }, ElidedString]> {
    const all = [...this.#texts.values()];
    for (let at = text.indexOf(this.#mark); at >= 0; ) {
      const numberAt = at + this.#mark.length;
      const close = text.indexOf('>', numberAt);
      const long = all[Number(text.slice(numberAt, close))];
      // A placeholder that was escaped again has another prefix, which then counts as text.
      const start = long && text.startsWith(long.head, at - long.head.length) ? at - long.head.length : at;
      if (long) yield [{ start, end: close + 1 }, long];
      at = text.indexOf(this.#mark, close);
    }
  }
}

/** Number of surrogate pairs, each one character of two UTF-16 units. Builds no list: a text may have millions. */
export function surrogatePairs(text: string): number {
  let pairs = 0;
  for (let at = 0; at + 1 < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    at++;
  }
  return pairs;
}
