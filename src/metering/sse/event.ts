import { closingQuote } from '../json/lexer.ts';
import { JsonSieve, type Shape } from '../json/sieve.ts';
import { isObject } from '../json/value.ts';

const DONE = /^data: ?\[DONE\]/m;
const NAMED_ERROR = /(?:^|[\r\n])event: ?error[\r\n]/;

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
  const data = Buffer.from(event, 'latin1')
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
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

/**
 * Whether an event of OpenAI's format reports a failure: its name is `error`, or its data has an `error`, alone or
 * beside a last chunk. Output text can't fake one, since its quotes are escaped.
 */
export function saysFailed(event: string): boolean {
  if (!event.includes('error')) return false;
  if (NAMED_ERROR.test(event)) return true;
  if (!event.includes('"error"')) return false;
  const data = eventData(event);
  return data?.type === 'error' || Boolean(data?.error);
}

/** Characters of a line kept to identify its field: longer than any name of interest. */
const FIELD_MAX_CHARS = 16;
const NAME_MAX_CHARS = 256;
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
    if (this.#within === 'event') this.#name = (this.#name + value).slice(0, NAME_MAX_CHARS);
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

/** Reduces a whole event to the members of a shape, so large images need no parsing. */
export function sifted(event: string, kept: Shape): string {
  const large = new LargeEvent(kept);
  large.push(event);
  return large.toString();
}

/**
 * Kind of an event at the start of a stream: a keep-alive, forwarded at once; an opening of the answer; a failure; or
 * content (specification section 12, Hand-over).
 */
type EventKind = 'ping' | 'opening' | 'failure' | 'content';

/** Classifies the events of a format. Events are Latin-1 text, one character a byte. */
export type KindOfEvent = (event: string) => EventKind;

/**
 * Classifiers by endpoint path, for formats whose streams can move to another target if they fail before any content.
 */
export const OPENINGS: Readonly<Record<string, KindOfEvent>> = {
  '/v1/chat/completions': (event) => {
    if (isComment(event)) return 'ping';
    if (saysFailed(event)) return 'failure';
    const data = eventData(event);
    const choices: unknown = data?.choices;
    if (!Array.isArray(choices)) return 'content';
    return choices.every(saysNothing) ? 'opening' : 'content';
  },
  '/v1/responses': (event) => {
    if (isComment(event)) return 'ping';
    const name = eventName(event);
    if (name === 'response.failed' || name === 'error' || saysFailed(event)) return 'failure';
    if (name === 'keepalive' || name === 'ping') return 'ping';
    return RESPONSE_OPENINGS.has(name) ? 'opening' : 'content';
  },
  '/v1/messages': (event) => {
    if (isComment(event)) return 'ping';
    const name = eventName(event);
    if (name === 'ping') return 'ping';
    if (name === 'error') return 'failure';
    return name === 'message_start' ? 'opening' : 'content';
  },
};

const RESPONSE_OPENINGS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/** Whether a choice of a chunk names at most a role. */
function saysNothing(choice: unknown): boolean {
  if (!isObject(choice) || (choice.finish_reason ?? null) !== null) return false;
  const { delta } = choice;
  return (
    !isObject(delta) || Object.entries(delta).every(([name, value]) => name === 'role' || isEmpty(value))
  );
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** Whether an event has only comments and empty lines, and so no effect (WHATWG HTML, "Server-sent events"). */
function isComment(event: string): boolean {
  return event.split(/\r\n|\r|\n/).every((line) => line === '' || line.startsWith(':'));
}

/** Message of a failure event; undefined if absent. */
export function failureMessage(event: string): string | undefined {
  const data = eventData(event);
  const response = isObject(data?.response) ? data.response : undefined;
  for (const error of [data?.error, response?.error, data]) {
    if (typeof error === 'string') return error;
    if (isObject(error) && typeof error.message === 'string') return error.message;
  }
  return undefined;
}
