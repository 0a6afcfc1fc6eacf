import { parseAnswer } from '../answer.ts';
import { closingQuote, isEscaped } from './lexer.ts';

/** Receives the raw text of a member's value in parts, split anywhere. */
export interface ValueSink {
  begin(): void;
  part(raw: string): void;
}

/**
 * Selects the part of a JSON value to keep: all of it, some members of an object, or a shape for each element of an
 * array. A ValueSink receives the text instead.
 */
export type Shape = 'all' | ValueSink | readonly [Shape] | { readonly [member: string]: Shape };

interface Frame {
  readonly shape: Shape;
  readonly isArray: boolean;
  isEmpty: boolean;
  expects: 'key' | 'value' | 'comma';
  /** The last key. */
  member: string;
}

/** Longer values and keys are dropped. */
const MAX_VALUE_CHARS = 64 * 1024;
/** Beyond this, arrays take no more elements; later members are still kept. */
const MAX_ARRAYS_CHARS = 1024 * 1024;
const MAX_TOTAL_CHARS = 2 * 1024 * 1024;
/** Pieces are joined regularly, because a slice keeps its whole chunk in memory. */
const MAX_PIECES = 64;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Streaming projection: reads JSON of any size in parts split anywhere (Latin-1 text, one character a byte), and keeps the members
 * of a shape: a few members at any depth, and an empty object for each element of a counted array.
 *
 * Follows the grammar instead of matching patterns, so a name inside a string is never taken for a member. A native
 * search for the closing quote skips strings, so megabytes of base64 cost about as much as copying them. Invalid JSON
 * yields no value, and never an error.
 */
export class JsonSieve {
  readonly #shape: Shape;
  readonly #frames: Frame[] = [];
  #state: 'before' | 'within' | 'after' | 'broken' = 'before';
  #kept: string[] = [];
  #pieces: string[] = [];
  #chars = 0;
  /** Kind of the current string. */
  #string: 'none' | 'key' | 'value' = 'none';
  #isEscaped = false;
  #key = '';
  /** Inside a value that is kept or skipped as raw text; `#depth` counts its open brackets. */
  #isWithinValue = false;
  #depth = 0;
  #sink: ValueSink | undefined;
  /** Characters of the value being kept; -1 if none. */
  #valueChars = -1;
  #value: string[] = [];

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** The outermost value has ended. */
  get isWhole(): boolean {
    return this.#state === 'after';
  }

  /** JSON of the members kept so far. */
  get text(): string {
    const open = this.#frames.map(({ isArray }) => (isArray ? ']' : '}')).reverse();
    return [...this.#kept, ...this.#pieces, ...open].join('');
  }

  /** Value of the members kept so far; undefined without JSON. */
  get value(): unknown {
    return parseAnswer(Buffer.from(this.text, 'latin1').toString('utf8'));
  }

  push(text: string): void {
    let at = 0;
    while (at < text.length && this.#state !== 'after' && this.#state !== 'broken') {
      if (this.#string !== 'none') at = this.#inString(text, at);
      else if (this.#isWithinValue) at = this.#inValue(text, at);
      else at = this.#step(text, at);
    }
  }

  /** Continues within a string; returns the index after its closing quote, or the end of the part. */
  #inString(text: string, from: number): number {
    const start = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    const quote = closingQuote(text, start);
    if (quote < 0) this.#isEscaped = isEscaped(text, text.length, start);
    const end = quote < 0 ? text.length : quote + 1;
    if (this.#string === 'value') this.#take(text, from, end);
    else if (this.#key.length <= MAX_VALUE_CHARS) this.#key += text.slice(from, quote < 0 ? end : quote);
    if (quote >= 0) {
      if (this.#string === 'key') this.#keyEnded();
      this.#string = 'none';
      if (!this.#isWithinValue) return end;
      if (this.#depth === 0) this.#valueEnded();
    }
    return end;
  }

  /** Continues within a raw value; returns the index after the consumed text. */
  #inValue(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#string = 'value';
        this.#take(text, from, at + 1);
        return at + 1;
      }
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#depth++;
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY || code === COMMA) {
        // The character that ends a number, true, false or null isn't part of it.
        if (this.#depth === 0) {
          this.#take(text, from, at);
          this.#valueEnded();
          return at;
        }
        if (code !== COMMA && --this.#depth === 0) {
          this.#take(text, from, at + 1);
          this.#valueEnded();
          return at + 1;
        }
      }
    }
    this.#take(text, from, text.length);
    return text.length;
  }

  #step(text: string, at: number): number {
    const code = text.charCodeAt(at);
    // A byte order mark may come first.
    if (code <= 0x20 || (code > 0x7f && this.#state === 'before')) return at + 1;
    const frame = this.#frames.at(-1);
    if (!frame) return this.#begin(this.#shape, code, at);
    if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      this.#keep(frame.isArray ? ']' : '}');
      this.#frames.pop();
      if (this.#frames.length === 0) this.#state = 'after';
    } else if (code === COMMA) frame.expects = frame.isArray ? 'value' : 'key';
    else if (code === COLON) frame.expects = 'value';
    else if (frame.expects === 'key' && code === QUOTE) {
      this.#string = 'key';
      this.#key = '';
    } else if (frame.expects === 'value') return this.#beginValue(frame, code, at);
    else this.#state = 'broken';
    return at + 1;
  }

  #keyEnded(): void {
    const frame = this.#frames.at(-1) as Frame;
    try {
      frame.member = JSON.parse(`"${this.#key}"`) as string;
    } catch {
      frame.member = '';
    }
  }

  #beginValue(frame: Frame, code: number, at: number): number {
    const { shape, isArray, member } = frame;
    frame.expects = 'comma';
    let inner: Shape | undefined;
    if (isArray) inner = this.#chars < MAX_ARRAYS_CHARS ? (shape as readonly [Shape])[0] : undefined;
    else if (Object.hasOwn(shape as object, member)) inner = (shape as Record<string, Shape>)[member];
    return this.#begin(inner, code, at);
  }

  /** Comma and name that precede the next value in the kept text. */
  #place(): string {
    const frame = this.#frames.at(-1);
    if (!frame) return '';
    const comma = frame.isEmpty ? '' : ',';
    frame.isEmpty = false;
    return frame.isArray ? comma : `${comma}${JSON.stringify(frame.member)}:`;
  }

  #begin(shape: Shape | undefined, code: number, at: number): number {
    this.#state = 'within';
    if (typeof shape === 'object' && !isSink(shape)) {
      const isArray = Array.isArray(shape);
      if (code === (isArray ? OPEN_ARRAY : OPEN_OBJECT)) {
        this.#keep(`${this.#place()}${isArray ? '[' : '{'}`);
        const expects = isArray ? 'value' : 'key';
        this.#frames.push({ shape, isArray, isEmpty: true, expects, member: '' });
        return at + 1;
      }
      // The shape expects another kind of value.
      this.#keep(`${this.#place()}null`);
    }
    this.#isWithinValue = true;
    this.#depth = 0;
    this.#sink = isSink(shape) ? shape : undefined;
    this.#sink?.begin();
    this.#valueChars = shape === 'all' ? 0 : -1;
    return at;
  }

  #take(text: string, from: number, to: number): void {
    if (this.#sink) this.#sink.part(text.slice(from, to));
    if (this.#valueChars < 0) return;
    this.#valueChars += to - from;
    if (this.#valueChars > MAX_VALUE_CHARS) {
      this.#value = [];
      this.#valueChars = -1;
      return;
    }
    this.#value.push(text.slice(from, to));
    if (this.#value.length > MAX_PIECES) this.#value = [this.#value.join('')];
  }

  #valueEnded(): void {
    if (this.#valueChars >= 0) this.#keep(`${this.#place()}${this.#value.join('')}`);
    this.#value = [];
    this.#valueChars = -1;
    this.#sink = undefined;
    this.#isWithinValue = false;
    if (this.#frames.length === 0) this.#state = 'after';
  }

  #keep(piece: string): void {
    this.#chars += piece.length;
    if (this.#chars > MAX_TOTAL_CHARS) {
      this.#state = 'broken';
      return;
    }
    this.#pieces.push(piece);
    if (this.#pieces.length < MAX_PIECES) return;
    this.#kept.push(this.#pieces.join(''));
    this.#pieces = [];
  }
}

function isSink(shape: Shape | undefined): shape is ValueSink {
  return typeof shape === 'object' && 'part' in shape && typeof shape.part === 'function';
}
