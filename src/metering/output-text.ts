import type { Usage } from '../domain/units.ts';
import { closingQuote, isEscaped } from './json/lexer.ts';
import type { Shape, ValueSink } from './json/sieve.ts';
import type { EventAction, StreamMeter } from './meter.ts';

const SPACE = /\s/;
/** Text kept and counted per stream, some 16,000 tokens; of the rest, only the length counts. */
const KEPT_MAX_CHARS = 64 * 1024;
/** Pieces are joined regularly, because a slice keeps its whole chunk in memory. */
const MAX_PIECES = 64;

interface Lane {
  readonly joined: string[];
  readonly recent: string[];
}

/**
 * Collects output text from the events of a stream. Keeps raw JSON text and decodes it only to estimate usage: most
 * streams report theirs and need no decoding. As a `ValueSink` it collects from parts of an event too large to hold.
 */
export class OutputTextCollector implements ValueSink {
  readonly #scanner = new TextScanner((raw, continues) => this.#add(raw, continues));
  /** Escaped JSON text, Latin-1, of each interleaved answer. */
  readonly #lanes = new Map<number, Lane>();
  #lane = 0;
  #pieces = 0;
  #keptChars = 0;
  #otherChars = 0;

  /**
   * Collects the output text in each value of a member (`"delta"`, with its quotes) of an event (Latin-1). Returns
   * whether the event has the member. `lane`: number of the answer, if answers are interleaved; joining text across
   * answers would split words and change the tokens.
   */
  collect(event: string, member: string, lane = 0): boolean {
    this.#lane = lane;
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

  /** Collects the output text of JSON, a whole answer or a part. */
  collectValue(json: string): void {
    this.#lane = 0;
    this.#scanner.begin();
    this.#scanner.push(Buffer.from(json).toString('latin1'), 0);
  }

  begin(): void {
    this.#lane = 0;
    this.#scanner.begin();
  }

  part(raw: string): void {
    this.#scanner.push(raw, 0);
  }

  /** Number of nonempty pieces. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Scales the output of an estimate, made from `toString()`, to the length of all output text. */
  scaled(estimate: Usage): Usage {
    if (this.#otherChars === 0 || estimate.output === undefined) return estimate;
    const times = (this.#keptChars + this.#otherChars) / this.#keptChars;
    return { ...estimate, output: Math.ceil(estimate.output * times) };
  }

  /** The output text, or its beginning. */
  toString(): string {
    return [...this.#lanes.values()]
      .flatMap(({ joined, recent }) => [...joined, recent.join('')])
      .map(decoded)
      .join('');
  }

  #add(raw: string, continues: boolean): void {
    if (!continues) this.#pieces++;
    if (this.#keptChars >= KEPT_MAX_CHARS) {
      this.#otherChars += raw.length;
      return;
    }
    this.#keptChars += raw.length;
    let lane = this.#lanes.get(this.#lane);
    if (!lane) {
      lane = { joined: [], recent: [] };
      this.#lanes.set(this.#lane, lane);
    }
    const { joined, recent } = lane;
    if (continues) {
      recent.push(`${recent.pop() ?? ''}${raw}`);
      return;
    }
    if (recent.length === MAX_PIECES) joined.push(recent.splice(0).join(''));
    recent.push(raw);
  }
}

/** Measures a stream whose events hold output text. */
export abstract class TextStream implements StreamMeter {
  protected readonly text = new OutputTextCollector();
  failed = false;
  abstract readonly kept: Shape;
  abstract readonly usage: Usage | undefined;

  abstract event(event: string): EventAction;

  get pieces(): number {
    return this.text.pieces;
  }

  /** Output text so far: text, refusals, reasoning, and names, arguments and code for tools. */
  outputText(): string {
    return this.text.toString();
  }
}

/** Output text of JSON, a whole answer or a part. */
export function outputTextIn(json: string): string {
  const collector = new OutputTextCollector();
  collector.collectValue(json);
  return collector.toString();
}

function decoded(raw: string): string {
  const text = Buffer.from(raw, 'latin1').toString('utf8');
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
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
