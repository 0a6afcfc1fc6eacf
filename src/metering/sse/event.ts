import { errorIn, parseAnswer, saysFailed, type ToldError } from '../answer.ts';
import { closingQuote } from '../json/lexer.ts';
import { JsonSieve, type Shape } from '../json/sieve.ts';

const DONE = /^data:[ \t]*\[DONE\]/m;
/** An event named `error`, or llama.cpp's field of that name. */
const NAMED_ERROR = /(?:^|[\r\n])(?:event: ?error[\r\n]|error:)/;
const ERROR_FIELD = /(?:^|[\r\n])error: ?([^\r\n]*)/;

/**
 * Name of an SSE event (Latin-1 text): its `event:` line unless that is `message`, otherwise the `type` in its data.
 */
export function eventName(event: string): string {
  const named = /(?:^|[\r\n])event: ?([^\r\n]*)/.exec(event)?.[1];
  if (named && named !== 'message') return named;
  const type = eventData(event)?.type;
  return typeof type === 'string' ? type : '';
}

/** The JSON object in an SSE event (Latin-1 text); undefined if absent. */
export function eventData(event: string): Record<string, unknown> | undefined {
  const value = parseAnswer(Buffer.from(dataOf(event), 'latin1').toString('utf8'));
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function dataOf(event: string): string {
  return event
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
}

/** Whether the event has a single line of data, so that a part of it can be cut out. */
export function hasOneDataLine(event: string): boolean {
  return !event.includes('\ndata:', event.indexOf('data:') + 1);
}

/** Whether the member at index `at` belongs to the outermost object, in an event with one data line. */
export function isOutermost(event: string, at: number): boolean {
  let depth = 0;
  for (let index = event.indexOf('{'); index >= 0 && index < at; index++) {
    const code = event.charCodeAt(index);
    if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x22) {
      index = closingQuote(event, index + 1);
      if (index < 0) return false;
    }
  }
  return depth === 1;
}

/** Whether the event is `data: [DONE]`, which ends most streams of OpenAI's format. */
export function saysDone(event: string): boolean {
  return event.includes('[DONE]') && DONE.test(event);
}

/** Whether an event is named `error`. Output text can't fake that, since its quotes and line ends are escaped. */
export function namesError(event: string): boolean {
  return event.includes('error') && NAMED_ERROR.test(event);
}

/** Whether an event that brings output may also say that the call failed; such events are parsed only then. */
export function mayFail(event: string): boolean {
  return event.includes('error') && (event.includes('"error') || NAMED_ERROR.test(event));
}

/** Whether an event says that the call failed, by its name or its data. */
export function eventFailed(event: string): boolean {
  return namesError(event) || saysFailed(eventData(event));
}

/** Characters of a line kept to identify its field: longer than any name of interest. */
const MAX_FIELD_CHARS = 16;
const MAX_NAME_CHARS = 256;
/** Characters of the data kept to recognize `[DONE]`, which isn't JSON. */
const HEAD_CHARS = 16;
const LF = /\n/g;
const ANY_LINE_END = /[\r\n]/g;

/**
 * Reduces an SSE event of any size (WHATWG HTML, "Server-sent events"), read in parts split anywhere, to its name and
 * the members of a shape. Latin-1 text, one character a byte.
 */
export class LargeEvent {
  readonly #sieve: JsonSieve;
  /** Field name of the current line so far; undefined once the value follows. */
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
        // JSON treats a line end between two data lines as white space.
        if (this.#within === 'data') this.#sieve.push('\n');
      }
      at = end + 1;
    }
  }

  /** The reduced event so far. */
  toString(): string {
    const data = this.#head.trimStart().startsWith('[DONE]') ? '[DONE]' : this.#sieve.text;
    return `${this.#name === '' ? '' : `event: ${this.#name}\n`}data: ${data}\n\n`;
  }

  /** Reads a line or its next part. */
  #line(part: string): void {
    const value = this.#field === undefined ? part : this.#valueOf(part);
    if (this.#within === 'event') this.#name = (this.#name + value).slice(0, MAX_NAME_CHARS);
    if (this.#within !== 'data') return;
    if (this.#head.length < HEAD_CHARS) this.#head += value.slice(0, HEAD_CHARS);
    this.#sieve.push(value);
  }

  /** Returns the text after the colon and its space; "" before the colon has arrived. */
  #valueOf(part: string): string {
    const text = this.#field + part;
    const colon = text.indexOf(':');
    // The space may arrive with the next part.
    if (colon < 0 || colon + 1 === text.length) {
      this.#field = text.slice(0, MAX_FIELD_CHARS);
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

/** Reduces a whole event to the members of a shape, so large images need no parsing. */
export function sifted(event: string, kept: Shape): string {
  const large = new LargeEvent(kept);
  large.push(event);
  return large.toString();
}

const PINGS: ReadonlySet<string> = new Set(['ping', 'keepalive']);

/** Whether an event is a sign of life alone: a comment, blank lines or a ping of any format. */
export function isPing(event: string): boolean {
  return isComment(event) || PINGS.has(eventName(event));
}

/** Whether an event has data of no format: neither a type nor choices. */
export function saysNothing(event: string): boolean {
  return (
    !isComment(event) && event.includes('data:') && !event.includes('"choices"') && eventName(event) === ''
  );
}

/** Whether an event has only comments and empty lines, and so no effect (WHATWG HTML, "Server-sent events"). */
function isComment(event: string): boolean {
  return event.split(/\r\n|\r|\n/).every((line) => line === '' || line.startsWith(':'));
}

/** The error that an event tells. */
export function errorOfEvent(event: string): ToldError | undefined {
  const field = ERROR_FIELD.exec(event)?.[1] ?? dataOf(event);
  const words = Buffer.from(field, 'latin1').toString('utf8').trim();
  return errorIn(parseAnswer(words)) ?? (words === '' ? undefined : errorIn({ error: words }));
}
