import { JsonSieve, type Shape } from '../json-sieve.ts';

/** The start of a line, as far as it must be known to tell whose value follows. */
const FIELD_MAX_CHARS = 16;
const NAME_MAX_CHARS = 256;
/** Enough of the data to know what is no JSON: `[DONE]`. */
const HEAD_CHARS = 16;
const LF = /\n/g;
const ANY_LINE_END = /[\r\n]/g;

/**
 * One SSE event of any size (WHATWG HTML, "Server-sent events"), read in parts cut anywhere: what is left of it is an
 * event with the same name, of whose data only what a shape names is kept. Latin-1 text, a byte a character.
 */
export class LargeEvent {
  readonly #sieve: JsonSieve;
  /** The line at hand: its field's name as far as it has come; undefined: known, the value follows. */
  #field: string | undefined = '';
  #within: 'data' | 'event' | 'other' = 'other';
  #name = '';
  #head = '';

  constructor(kept: Shape) {
    this.#sieve = new JsonSieve(kept);
  }

  push(text: string): void {
    const lineEnd = text.includes('\r') ? ANY_LINE_END : LF;
    for (let at = 0; at < text.length; ) {
      lineEnd.lastIndex = at;
      const end = lineEnd.exec(text)?.index ?? text.length;
      this.#line(text.slice(at, end));
      if (end < text.length) {
        this.#field = '';
        // A line end between two lines of data is white space to JSON.
        if (this.#within === 'data') this.#sieve.push('\n');
      }
      at = end + 1;
    }
  }

  /** The event as far as it has come, without what is not kept. */
  toString(): string {
    const data = this.#head.trimStart().startsWith('[DONE]') ? '[DONE]' : this.#sieve.text;
    return `${this.#name === '' ? '' : `event: ${this.#name}\n`}data: ${data}\n\n`;
  }

  /** A line, or the next part of it. */
  #line(part: string): void {
    const value = this.#field === undefined ? part : this.#valueOf(part);
    if (this.#within === 'event') this.#name = (this.#name + value).slice(0, NAME_MAX_CHARS);
    if (this.#within !== 'data') return;
    if (this.#head.length < HEAD_CHARS) this.#head += value.slice(0, HEAD_CHARS);
    this.#sieve.push(value);
  }

  /** What follows the colon and its space. */
  #valueOf(part: string): string {
    const text = this.#field + part;
    const colon = text.indexOf(':');
    // The space may come with the next part.
    if (colon < 0 || colon + 1 === text.length) {
      this.#field = text.slice(0, FIELD_MAX_CHARS);
      this.#within = 'other';
      return '';
    }
    this.#field = undefined;
    const name = text.slice(0, colon);
    this.#within = name === 'data' || name === 'event' ? name : 'other';
    if (this.#within === 'event') this.#name = '';
    return text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
  }
}

/** Of an event that is held, without what a shape does not name: large pictures need not be parsed. */
export function sifted(event: string, kept: Shape): string {
  const large = new LargeEvent(kept);
  large.push(event);
  return large.toString();
}
