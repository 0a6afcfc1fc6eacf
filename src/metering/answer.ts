import { closingQuoteAmongEscapes, skipSpace } from './json/lexer.ts';
import { isObject } from './json/value.ts';

/**
 * Decides what an answer of status 2xx is, whatever its label says: an event stream, JSON or bytes; whether it has any
 * content; and whether it reports that the call failed (docs/charges.md, "What an answer is"). The relays, the failover,
 * the meters and the record all ask here.
 */

export const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** `bytes`: neither of the others, such as sound or the text of a transcript. `page`: HTML in place of sound. */
export type Form = 'stream' | 'json' | 'bytes' | 'page';

/** Fields of events; `error` is llama.cpp's. */
const EVENT_FIELD = /^(?:(?:data|event|id|retry|error):|:)/;
/** A beginning that may become the name of a field. */
const SHORT_OF_FIELD = /^[a-z]{0,5}$/;
/** Longest first line that is waited for, to tell lines of JSON from one value. */
export const MAX_FIRST_LINE_CHARS = 16 * 1024;

/**
 * The form of an answer that begins with `text` (Latin-1, one character a byte); undefined if more is needed. White
 * space at the start says nothing. A first line that is a whole JSON value, with another value after it, begins a stream
 * of lines. `isEnd`: nothing follows.
 */
export function formOf(text: string, isEnd: boolean): Form | undefined {
  const from = skipSpace(text, text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0);
  const first = text[from];
  if (first === undefined || (from === 0 && BYTE_ORDER_MARK.startsWith(text)))
    return isEnd ? 'bytes' : undefined;
  if (first === '{' || first === '[') return formOfJson(text, from, isEnd);
  const head = text.slice(from, from + 'event:'.length);
  if (EVENT_FIELD.test(head)) return 'stream';
  return SHORT_OF_FIELD.test(head) && !isEnd ? undefined : 'bytes';
}

/**
 * `formOf` where sound is expected, which can begin with anything: it is JSON only if all of it is, and a stream only if
 * it begins with the name of a field.
 */
export function formOfSound(text: string, isEnd: boolean): Form | undefined {
  if (isPage(text)) return 'page';
  if (/^(?:data|event):/.test(text)) return 'stream';
  const from = skipSpace(text, 0);
  if (MAY_BE_JSON.test(text) && !text.includes('\0')) {
    if (isEnd) return isJson(text) ? 'json' : 'bytes';
    return text.length > MAX_FIRST_LINE_CHARS ? 'bytes' : undefined;
  }
  return isEnd || text.length >= PAGE_WITHIN || !'<de'.includes(text[from] ?? '<') ? 'bytes' : undefined;
}

/** What JSON can begin with, which most sound that begins with a bracket does not. */
const MAY_BE_JSON = /^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[-"{[\]\dtfn]|$))/;

function formOfJson(text: string, from: number, isEnd: boolean): Form | undefined {
  const end = text.indexOf('\n', from);
  if (end < 0) return isEnd || text.length > MAX_FIRST_LINE_CHARS ? 'json' : undefined;
  if (!isJson(text.slice(from, end))) return 'json';
  const next = skipSpace(text, end);
  if (next === text.length) return isEnd ? 'json' : undefined;
  // Anything but a value behind it is ignored.
  return /^(?:\{|\[(?!DONE))/.test(text.slice(next, next + '[DONE]'.length)) ? 'stream' : 'json';
}

/** Whether a text is one JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The value of JSON as providers write it: also with a byte order mark, NaN, Infinity, raw control characters, or
 * something after the value. Undefined if it is not JSON or was cut off; null if its brackets close, but no more can be
 * read.
 */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parseLoosely(text);
  }
}

const MARK = '\ufeff';

function parseLoosely(text: string): unknown {
  const start = skipSpace(text, text.startsWith(MARK) ? 1 : 0);
  if (text[start] !== '{' && text[start] !== '[') return undefined;
  const plain = plainJson(text, start);
  if (plain === undefined) return undefined;
  try {
    return JSON.parse(plain);
  } catch {
    return null;
  }
}

/** What RFC 8259 has no place for outside strings. */
const LAST_COMMA = /,(?=\s*[}\]])/g;
const ODD_NUMBER = /-?\b(?:NaN|Infinity)\b/g;
const CONTROL = /\p{Cc}/gu;

/** The value that begins at `from`, with odd numbers as null and control characters escaped; undefined if it is cut off. */
function plainJson(text: string, from: number): string | undefined {
  let plain = '';
  let depth = 0;
  let at = from;
  for (let next = from; next < text.length; next++) {
    const character = text[next];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth === 0) return plain + outsideStrings(text.slice(at, next + 1));
    } else if (character === '"') {
      const end = closingQuoteAmongEscapes(text, next + 1);
      if (end < 0) return undefined;
      plain += outsideStrings(text.slice(at, next)) + escaped(text.slice(next, end + 1));
      at = end + 1;
      next = end;
    }
  }
  return undefined;
}

function outsideStrings(text: string): string {
  return text.replace(CONTROL, ' ').replace(ODD_NUMBER, 'null').replace(LAST_COMMA, '');
}

function escaped(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether a value of an `error` member says that the call failed. Some vendors send one with empty members on success. */
export function saysError(error: unknown): boolean {
  if (typeof error === 'string') return error !== '';
  return isObject(error) && (isText(error.message) || isCode(error.code) || isCode(error.type));
}

/**
 * Whether an answer, or the data of an event, says that the call failed: by an `error`, in the words of FastAPI
 * (`detail`), vLLM (`object`), MiniMax (`base_resp`), Hermes (`error_type`), OpenRouter (`finish_reason`) and Chinese
 * relays (`code` with `msg`, `success`). Google sends errors in a list.
 */
export function saysFailed(answer: unknown): boolean {
  if (Array.isArray(answer)) return answer.some((part) => isObject(part) && saysFailed(part));
  if (!isObject(answer)) return false;
  const { error, base_resp: base, choices, code } = answer;
  if (saysError(error) || isText(answer.error_type) || isText(answer.error_message)) return true;
  if (answer.type === 'error' || answer.object === 'error') return true;
  if (isObject(base) && isCode(base.status_code)) return true;
  if (listOf(choices).some((choice) => isObject(choice) && choice.finish_reason === 'error')) return true;
  const hasWords = isText(answer.msg) || isText(answer.message);
  const isRefused = answer.success === false || (isCode(code) && hasWords) || 'detail' in answer;
  return isRefused && !isText(answer.type) && !hasAnswer(answer);
}

/** Whether an answer of any endpoint, or the data of an event, has content: at least a part of what was asked for. */
export function hasAnswer(answer: unknown): boolean {
  if (Array.isArray(answer)) return answer.some((part) => Array.isArray(part) || hasAnswer(part));
  if (!isObject(answer)) return false;
  if (listOf(answer.choices).some(hasChoice)) return true;
  const { output, embeddings } = answer;
  // A response that ended without an output ended as one with an empty text does.
  if (Array.isArray(output) && (output.length > 0 || isText(answer.status))) return true;
  // DashScope's and Cohere's.
  if ([output, embeddings].some((part) => isObject(part) && Object.keys(part).length > 0)) return true;
  if (LISTS.some((name) => listOf(answer[name]).some(isPart)) || isText(answer.stop_reason)) return true;
  return typeof answer.text === 'string' || typeof answer.input_tokens === 'number';
}

/** Blocks of a message; embeddings and pictures, also Ollama's and llama.cpp's; parts of a transcript; moderations. */
const LISTS = [
  'content',
  'data',
  'embeddings',
  'embedding',
  'images',
  'segments',
  'words',
  'results',
] as const;

/** Whether an entry of a list is a part of an answer. Volcengine has errors among the pictures. */
export function isPart(entry: unknown): boolean {
  return !isObject(entry) || !(saysError(entry.error) || entry.b64_json === '' || entry.url === '');
}

function hasChoice(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  const content = choice.message ?? choice.delta;
  return (
    isText(choice.finish_reason) ||
    isText(choice.text) ||
    (isObject(content) && Object.entries(content).some(([name, value]) => name !== 'role' && !isEmpty(value)))
  );
}

function isEmpty(value: unknown): boolean {
  return (value ?? '') === '' || (Array.isArray(value) && value.length === 0);
}

/** Whether bytes are an HTML page, such as a content delivery network's, in place of an answer. */
export function isPage(text: string): boolean {
  return /^\s*<(?:!doctype html|html|head|body)\b/i.test(text.slice(0, PAGE_WITHIN));
}

const PAGE_WITHIN = 256;

/** An error as an answer tells it. */
export interface ToldError {
  readonly code: unknown;
  readonly message: string | undefined;
  readonly param: unknown;
}

/**
 * The error in an answer or an event, in the words of any format: `{"error": {…}}`, `{"response": {"error": {…}}}`, or
 * the fields themselves. Where an error has no member `code`, as Anthropic's, its `type` is the code.
 */
export function errorIn(answer: unknown): ToldError | undefined {
  if (Array.isArray(answer)) return errorIn(answer.find(saysFailed));
  if (!isObject(answer)) return undefined;
  const response = isObject(answer.response) ? answer.response : undefined;
  const choice = listOf(answer.choices).find((one) => isObject(one) && saysError(one.error));
  const ofChoice = isObject(choice) ? choice.error : undefined;
  const outer = answer.error ?? response?.error ?? ofChoice ?? answer;
  const error = isObject(outer) && saysError(outer.error) ? outer.error : outer;
  if (typeof error === 'string') return { code: null, message: error, param: null };
  if (!isObject(error)) return undefined;
  const { code, type, param } = error;
  return { code: code === undefined ? type : code, message: messageOf(error), param };
}

function messageOf(error: Readonly<Record<string, unknown>>): string | undefined {
  const { message, msg, error_message: told, detail, base_resp: base } = error;
  const minimax = isObject(base) ? base.status_msg : undefined;
  // FastAPI's list of faults.
  const [fault] = listOf(detail);
  return [message, msg, told, detail, isObject(fault) ? fault.msg : fault, minimax].find(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A code that means an error. */
function isCode(code: unknown): boolean {
  return typeof code === 'number' ? code !== 0 : isText(code) && code !== '0';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
