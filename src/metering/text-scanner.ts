import { closingQuote, isEscaped } from './json-lexer.ts';

/**
 * Members without output text of the model. Any other member counts, so that a provider's new member for output is not
 * free. Names that end with `_id`, `type`, `reason`, `status`, `signature` and the like hold no text either.
 */
const NO_TEXT =
  /^(?:id|role|object|model|phase|format|detail|data|result|obfuscation|file_data|encrypted_content)$|(?:_id|_ids|type|reason|status|signature|url|b64|b64_json|_at|_format)$/;
/** Members in which nothing is output of the model: results of tools, sources of a text, probabilities of its tokens. */
const NOT_OUTPUT =
  /^(?:logprobs|top_logprobs|annotations?|citations?|search_results|images?|audio_data|tools|outputs?|results|usage|file|metadata)$/;
/** Arguments of a tool call: every string in them is output of the model, whatever its member's name. */
const CALLED_WITH = /^(?:arguments|input|parameters|action)$/;
/** Names of members with thoughts. Some providers send one thought under several of them. */
const THOUGHTS = /^(?:reasoning|thinking)/;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
/** First letter of `data:`, which stands before each line of an event; no JSON has one outside of a string. */
const LETTER_D = 0x64;
/** Deeper levels are not read. */
const MAX_DEPTH = 64;

/** Receives the raw text of a JSON string, with its escapes. `continues`: it is the next part of the last string. */
export type TakeText = (raw: string, continues: boolean) => void;

/**
 * Finds the output text of a model in a JSON value (Latin-1 text, one character a byte): each string counts unless the
 * name of its member says that it is no output. The value may come in parts, cut anywhere.
 */
export class TextScanner {
  readonly #take: TakeText;
  /** For each open bracket: whether it is an object's, and the member whose value it opens. */
  readonly #objects: boolean[] = [];
  readonly #members: string[] = [];
  #member = '';
  #key = '';
  #expectsKey = false;
  #string: 'none' | 'key' | 'text' | 'other' = 'none';
  #isEscaped = false;
  #continues = false;
  /** Depth of the value in which no string counts, or every string does; 0 outside of such a value. */
  #foreignFrom = 0;
  #allFrom = 0;
  /** The member under which thoughts came in the object at `#thoughtsDepth`, once one has. */
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

  /** Reads text from `from` on; returns the index after the value, or the end of the text where it has not ended. */
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

  /** One character outside of strings, which is text where it belongs to what a tool is called with. */
  #step(text: string, at: number): number {
    const code = text.charCodeAt(at);
    const wasAll = this.#allFrom > 0;
    const next = this.#structure(code, at);
    const isText = (wasAll || this.#allFrom > 0) && code > 0x20 && code !== QUOTE && code !== LETTER_D;
    if (isText) this.#take(text.charAt(at), true);
    return next;
  }

  /** Returns where to go on. */
  #structure(code: number, at: number): number {
    if (code === QUOTE) this.#beginString();
    else if (code === COLON) this.#expectsKey = false;
    else if (code === COMMA) this.#expectsKey = this.#objects.at(-1) === true;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#open(code === OPEN_OBJECT);
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.#close();
    else if (code === LETTER_D) return at + 'data:'.length;
    // A number or a word in place of the value.
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
