import type { Upstream } from '../../domain/catalog.ts';
import type { AnswerSink, UpstreamAnswer } from './exchange.ts';

/** Shortest credential that is looked for; shorter ones are placeholders, as `none`, and words of many sentences. */
const LEAST_CHARS = 6;
/** `…` in UTF-8, a byte a character. */
const REPLACEMENT = Buffer.from('…').toString('latin1');
/** Characters of the longest spelling of a character: `\u002b`. */
const LONGEST_SPELLING = 6;

const patterns = new WeakMap<Upstream, RegExp>();

/** Whether the upstream has a credential that its answers must not show. */
export function hasCredential({ apiKey }: Upstream): boolean {
  return apiKey.length >= LEAST_CHARS;
}

/**
 * A provider's text (a byte a character) without the gateway's credential, which some providers quote in errors. It is found as it
 * is, and as JSON or an address spells it.
 */
export function withoutCredential(text: string, upstream: Upstream): string {
  return hasCredential(upstream) ? text.replace(patternOf(upstream), REPLACEMENT) : text;
}

function patternOf(upstream: Upstream): RegExp {
  const known = patterns.get(upstream);
  if (known) return known;
  const pattern = new RegExp(Array.from(upstream.apiKey, spellings).join(''), 'gi');
  patterns.set(upstream, pattern);
  return pattern;
}

/** The character itself, and escaped as JSON (`\/`, `\u002f`) or an address (`%2f`) does. */
function spellings(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  return `(?:\\\\?\\x${hex}|\\\\u00${hex}|%${hex})`;
}

/** The head of an answer that a CredentialFilter may shorten. */
export function unmeasured<Answer extends Pick<UpstreamAnswer, 'headers'>>(answer: Answer): Answer {
  const { 'content-length': _length, ...headers } = answer.headers;
  return { ...answer, headers };
}

/** Takes the gateway's credential out of an answer of any size as it passes; keeps back only what may be the beginning of one. */
export class CredentialFilter implements AnswerSink {
  readonly #sink: AnswerSink;
  readonly #upstream: Upstream;
  #held = '';

  constructor(sink: AnswerSink, upstream: Upstream) {
    this.#sink = sink;
    this.#upstream = upstream;
  }

  data(chunk: Buffer): boolean {
    const text = withoutCredential(this.#held + chunk.toString('latin1'), this.#upstream);
    const end = Math.max(0, text.length - this.#upstream.apiKey.length * LONGEST_SPELLING);
    this.#held = text.slice(end);
    return end > 0 ? this.#sink.data(Buffer.from(text.slice(0, end), 'latin1')) : true;
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
    if (this.#held !== '') this.#sink.data(Buffer.from(this.#held, 'latin1'));
    this.#held = '';
  }
}
