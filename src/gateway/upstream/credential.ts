import type { Upstream } from '../../domain/catalog.ts';
import type { AnswerSink, UpstreamAnswer } from './exchange.ts';

/** Minimum length of a searched credential; shorter ones are placeholders such as `none`, or common words. */
const MIN_CHARS = 6;
/** `…` in UTF-8, one character per byte. */
const REPLACEMENT = Buffer.from('…').toString('latin1');
/** Maximum length of an escaped character: `\u002b`. */
const MAX_SPELLING_CHARS = 6;

/** Ids of the operator's organization and project, which provider errors about limits and access contain. */
const OPERATOR_IDS = /\b(?:org(?:-|\\u002d)|proj(?:_|\\u005f))(?:[a-z0-9_-]|\\u00(?:2d|5f)){3,}/gi;
const IN_ID = /[a-z0-9_\\-]/i;
/** Maximum characters of an id that is kept together. */
const MAX_ID_CHARS = 128;

const patterns = new WeakMap<Upstream, RegExp>();

/**
 * Removes the gateway's credential, which some providers quote, from a provider's text (one character per byte). Also
 * finds its spellings in JSON and addresses.
 */
export function withoutCredential(text: string, upstream: Upstream): string {
  return upstream.apiKey.length < MIN_CHARS ? text : text.replace(patternOf(upstream), REPLACEMENT);
}

/** Removes the gateway's credential and the operator's ids from a provider's error (one character per byte). */
export function shownError(text: string, upstream: Upstream): string {
  return withoutIds(withoutCredential(text, upstream));
}

function withoutIds(text: string): string {
  return text.replace(OPERATOR_IDS, REPLACEMENT);
}

function patternOf(upstream: Upstream): RegExp {
  const known = patterns.get(upstream);
  if (known) return known;
  const pattern = new RegExp(Array.from(upstream.apiKey, spellings).join(''), 'gi');
  patterns.set(upstream, pattern);
  return pattern;
}

/** The character itself, and its escapes in JSON (`\/`, `\u002f`) and addresses (`%2f`). */
function spellings(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  return `(?:\\\\?\\x${hex}|\\\\u00${hex}|%${hex})`;
}

/** Head of an answer that an ErrorFilter may shorten. */
export function unmeasured<Answer extends Pick<UpstreamAnswer, 'headers'>>(answer: Answer): Answer {
  const { 'content-length': _length, ...headers } = answer.headers;
  return { ...answer, headers };
}

/**
 * Removes the gateway's credential and the operator's ids from a streamed error of any size. Holds back only a possible
 * beginning of one.
 */
export class ErrorFilter implements AnswerSink {
  readonly #sink: AnswerSink;
  readonly #upstream: Upstream;
  #held = '';

  constructor(sink: AnswerSink, upstream: Upstream) {
    this.#sink = sink;
    this.#upstream = upstream;
  }

  data(chunk: Buffer): boolean {
    const text = withoutCredential(this.#held + chunk.toString('latin1'), this.#upstream);
    const end = startOfWord(text, text.length - this.#upstream.apiKey.length * MAX_SPELLING_CHARS);
    this.#held = text.slice(end);
    return end > 0 ? this.#pass(text.slice(0, end)) : true;
  }

  end(): void {
    this.#passHeld();
    this.#sink.end();
  }

  error(error: Error): void {
    this.#passHeld();
    this.#sink.error(error);
  }

  #passHeld(): void {
    if (this.#held !== '') this.#pass(this.#held);
    this.#held = '';
  }

  #pass(text: string): boolean {
    return this.#sink.data(Buffer.from(withoutIds(text), 'latin1'));
  }
}

/** The last position up to `at` outside a word that may be an id. */
function startOfWord(text: string, at: number): number {
  let start = Math.max(0, at);
  while (start > Math.max(0, at - MAX_ID_CHARS) && IN_ID.test(text[start - 1] ?? '')) start--;
  return start;
}
