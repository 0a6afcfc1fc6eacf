import type { Usage } from '../domain/units.ts';
import { closingQuote, isEscaped } from './json/lexer.ts';
import type { Shape, ValueSink } from './json/sieve.ts';
import { asText } from './json/value.ts';
import type { EventAction, StreamMeter } from './meter.ts';
import { TextTokens } from './text-tokens.ts';
import { ReportedStream } from './usage-report.ts';

const SPACE = /\s/;

/**
 * Finds the output text in the events of a stream and estimates its tokens, without keeping it. As a `ValueSink` it
 * reads the parts of an event too large to hold.
 */
export class OutputTextCounter implements ValueSink {
  readonly #text = new TextTokens();
  readonly #scanner = new TextScanner((raw, continues) => {
    if (!continues) this.#pieces++;
    this.#text.addJson(raw);
  });
  #pieces = 0;

  /**
   * Counts the output text in each value of a member (`"delta"`, with its quotes) of an event (Latin-1). Returns
   * whether the event has the member.
   */
  collect(event: string, member: string): boolean {
    let isFound = false;
    for (let at = event.indexOf(member); at >= 0; at = event.indexOf(member, at)) {
      const start = valueStart(event, at + member.length);
      at += member.length;
      if (start < 0) continue;
      isFound = true;
      this.#scanner.begin();
      at = this.#scanner.push(event, start);
    }
    return isFound;
  }

  /** Counts the output text of JSON, a whole answer or a part. */
  collectValue(json: string): void {
    this.#scanner.begin();
    this.#scanner.push(Buffer.from(json).toString('latin1'), 0);
  }

  begin(): void {
    this.#scanner.begin();
  }

  part(raw: string): void {
    this.#scanner.push(raw, 0);
  }

  /** Number of nonempty pieces. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Estimated tokens so far. */
  get tokens(): number {
    return this.#text.tokens;
  }
}

/** Measures a stream whose events hold output text. */
export abstract class TextStream extends ReportedStream implements StreamMeter {
  protected readonly text = new OutputTextCounter();
  abstract readonly kept: Shape;
  abstract readonly usage: Usage | undefined;
  abstract readonly hasAnswer: boolean;

  abstract event(event: string): EventAction;

  get pieces(): number {
    return this.text.pieces;
  }

  /** Tokens of text, refusals, reasoning, and names, arguments and code for tools. */
  get outputTokens(): number {
    return this.text.tokens;
  }
}

/** Estimated tokens of the output text in parts of a whole answer. */
export function outputTokensIn(parts: readonly unknown[]): number {
  const counter = new OutputTextCounter();
  for (const part of parts) counter.collectValue(asText(part));
  return counter.tokens;
}

/** Index after the colon that follows a member's name; -1 without a colon, when it was no name. */
function valueStart(text: string, from: number): number {
  let at = from;
  while (SPACE.test(text[at] ?? '')) at++;
  return text[at] === ':' ? at + 1 : -1;
}

/**
 * Members without output text. All others count, so a provider's new output member isn't free. Names ending in `_id`,
 * `type`, `reason`, `status`, `signature` or similar hold no text either.
 */
const NO_TEXT =
  /^(?:id|role|object|model|phase|format|detail|data|result|obfuscation|file_data|encrypted_content)$|(?:_id|_ids|type|reason|status|signature|url|b64|b64_json|_at|_format)$/;
/** Members without model output inside: tool results, sources of a text, token probabilities. */
const NOT_OUTPUT =
  /^(?:logprobs|top_logprobs|annotations?|citations?|search_results|images?|audio_data|tools|outputs?|results|usage|file|metadata)$/;
/** Arguments of a tool call: every string inside is output, whatever its member's name. */
const CALLED_WITH = /^(?:arguments|input|parameters|action)$/;
/** Members with reasoning. Some providers repeat it under several of them. */
const THOUGHTS = /^(?:reasoning|thinking)/;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
/** First letter of `data:`, which starts each line of an event; JSON has no `d` outside strings. */
const LETTER_D = 0x64;
/** Deeper levels are ignored. */
const MAX_DEPTH = 64;

/** Receives the raw text of a JSON string, with its escapes. `continues`: it is the next part of the last string. */
type TakeText = (raw: string, continues: boolean) => void;

/**
 * Finds output text in a JSON value (Latin-1 text, one character a byte): each string counts unless its member's name
 * excludes it. The value may arrive in parts, split anywhere.
 */
class TextScanner {
  readonly #take: TakeText;
  /** For each open bracket: whether it opens an object, and its member. */
  readonly #objects: boolean[] = [];
  readonly #members: string[] = [];
  #member = '';
  #key = '';
  #expectsKey = false;
  #string: 'none' | 'key' | 'text' | 'other' = 'none';
  #isEscaped = false;
  #continues = false;
  /** Depth of the value in which no string counts, or every string does; 0 outside such a value. */
  #foreignFrom = 0;
  #allFrom = 0;
  /** Member that carried reasoning in the object at `#thoughtsDepth`, once one has. */
  #thoughts = '';
  #thoughtsDepth = 0;
  #thinking = '';
  #isRepeat = false;
  #isOver = false;

  constructor(take: TakeText) {
    this.#take = take;
  }

  begin(): void {
    this.#objects.length = 0;
    this.#members.length = 0;
    this.#member = '';
    this.#expectsKey = false;
    this.#string = 'none';
    this.#isEscaped = false;
    this.#foreignFrom = 0;
    this.#allFrom = 0;
    this.#thoughts = '';
    this.#thoughtsDepth = 0;
    this.#thinking = '';
    this.#isRepeat = false;
    this.#isOver = false;
  }

  /** Reads from `from`; returns the index after the value, or the end of the text if it is incomplete. */
  push(text: string, from: number): number {
    let at = from;
    while (at < text.length && !this.#isOver) {
      at = this.#string === 'none' ? this.#step(text, at) : this.#inString(text, at);
    }
    return at;
  }

  #inString(text: string, from: number): number {
    const start = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    const quote = closingQuote(text, start);
    const end = quote < 0 ? text.length : quote;
    if (quote < 0) this.#isEscaped = isEscaped(text, end, start);
    if (this.#string === 'key') this.#key += text.slice(from, end);
    else if (this.#string === 'text' && end > from) {
      this.#take(text.slice(from, end), this.#continues);
      this.#continues = true;
      if (this.#thinking !== '') this.#thoughts = this.#thinking;
    }
    if (quote < 0) return end;
    if (this.#string === 'key') this.#keyEnded();
    this.#string = 'none';
    if (this.#objects.length === 0) this.#isOver = true;
    return end + 1;
  }

  /** Reads one character outside strings, which counts as output inside tool-call arguments. */
  #step(text: string, at: number): number {
    const code = text.charCodeAt(at);
    const wasAll = this.#allFrom > 0;
    const next = this.#structure(code, at);
    const isText = (wasAll || this.#allFrom > 0) && code > 0x20 && code !== QUOTE && code !== LETTER_D;
    if (isText) this.#take(text.charAt(at), true);
    return next;
  }

  /** Returns the index to continue at. */
  #structure(code: number, at: number): number {
    if (code === QUOTE) this.#beginString();
    else if (code === COLON) this.#expectsKey = false;
    else if (code === COMMA) this.#expectsKey = this.#objects.at(-1) === true;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#open(code === OPEN_OBJECT);
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.#close();
    else if (code === LETTER_D) return at + 'data:'.length;
    // A number or literal instead of the value.
    else if (code > 0x20 && this.#objects.length === 0) this.#isOver = true;
    return at + 1;
  }

  #beginString(): void {
    this.#continues = false;
    if (this.#expectsKey && this.#allFrom === 0) {
      this.#string = 'key';
      this.#key = '';
      return;
    }
    const isText = this.#allFrom > 0 || !NO_TEXT.test(this.#member);
    this.#string = isText && this.#foreignFrom === 0 && !this.#isRepeat ? 'text' : 'other';
  }

  #keyEnded(): void {
    const depth = this.#objects.length;
    this.#member = this.#key;
    if (THOUGHTS.test(this.#key)) {
      this.#isRepeat = this.#thoughts !== '' && this.#thoughts !== this.#key && this.#thoughtsDepth === depth;
      if (this.#isRepeat) return;
      this.#thinking = this.#key;
      this.#thoughtsDepth = depth;
    } else if (depth <= this.#thoughtsDepth) {
      this.#thinking = '';
      this.#isRepeat = false;
    }
  }

  #open(isObject: boolean): void {
    this.#objects.push(isObject);
    this.#members.push(this.#member);
    const depth = this.#objects.length;
    if (depth > MAX_DEPTH) this.#isOver = true;
    this.#expectsKey = isObject;
    if (this.#foreignFrom > 0 || this.#allFrom > 0) return;
    if (this.#isRepeat || NOT_OUTPUT.test(this.#member)) this.#foreignFrom = depth;
    else if (CALLED_WITH.test(this.#member)) this.#allFrom = depth;
  }

  #close(): void {
    this.#objects.pop();
    this.#member = this.#members.pop() ?? '';
    this.#expectsKey = false;
    const depth = this.#objects.length;
    if (depth < this.#foreignFrom) this.#foreignFrom = 0;
    if (depth < this.#allFrom) this.#allFrom = 0;
    if (depth < this.#thoughtsDepth) {
      this.#thoughts = '';
      this.#thinking = '';
      this.#thoughtsDepth = 0;
    }
    if (depth === 0) this.#isOver = true;
  }
}
