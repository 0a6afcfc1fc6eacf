import { BYTE_ORDER_MARK, isJson, MAX_FIRST_LINE_CHARS } from '../answer.ts';
import type { EventAction, StreamMeter } from '../meter.ts';
import { LargeEvent } from './event.ts';

/** Splits a stream into SSE events for the meter. Uses about 1 MiB of memory at most, whatever their size. */
export class EventReader {
  readonly #meter: StreamMeter;
  readonly #splitter = new EventSplitter();
  /** The current event, if it is too large to hold and passes in parts. */
  #large: LargeEvent | undefined;
  /** The line that names the next event, where each line is one. */
  #name = '';
  /** Verdict on the last result of `next` or `end`. The beginning of a large event has always been forwarded. */
  verdict: EventAction = 'pass';

  constructor(meter: StreamMeter) {
    this.#meter = meter;
  }

  /** The last result of `next` is part of an event too large to hold. */
  get isLarge(): boolean {
    return this.#splitter.isPart;
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** Returns the next event, or part of a large one, after the meter has read it; undefined if none has arrived. */
  next(): string | undefined {
    const event = this.#splitter.next();
    if (event === undefined) return undefined;
    // The LF of a CRLF that ended the last event.
    if (event === '\n') {
      if (this.verdict !== 'drop') this.verdict = 'pass';
    } else if (this.#splitter.isPart) this.#readPart(event);
    else this.#read(event);
    return event;
  }

  #read(event: string): void {
    if (!this.#splitter.isByLine) {
      this.verdict = this.#meter.event(event);
      return;
    }
    // Such a stream passes as it came.
    this.verdict = 'pass';
    if (event.startsWith('event:')) this.#name = event;
    const isBare = /^\s*[{[]/.test(event);
    if (!isBare && !event.startsWith('data:') && !event.startsWith('error:')) return;
    const whole = `${this.#name}${isBare ? 'data: ' : ''}${event}`;
    this.#name = '';
    if (this.#meter.event(whole) === 'end') this.verdict = 'end';
  }

  /** Reads the last event, which lacks its blank line. */
  end(): string {
    const rest = this.rest();
    if (this.#large) this.#largeEnded(this.#large);
    else if (rest === '') this.verdict = 'pass';
    else this.#read(rest);
    return rest;
  }

  /** Removes and returns the unread bytes. */
  rest(): string {
    return this.#splitter.rest();
  }

  /** Gives the meter an event that was cut off by the end of the stream or by the client. */
  brokeOff(): void {
    const { held } = this.#splitter;
    if (this.#large) this.#meter.unfinished?.(this.#large.toString(), true);
    else if (held !== '') this.#meter.unfinished?.(held, false);
  }

  #readPart(part: string): void {
    this.#large ??= new LargeEvent(this.#meter.kept);
    this.#large.push(part);
    this.verdict = 'pass';
    if (this.#splitter.isEnd) this.#largeEnded(this.#large);
  }

  #largeEnded(large: LargeEvent): void {
    this.#large = undefined;
    this.verdict = this.#meter.event(large.toString()) === 'end' ? 'end' : 'pass';
  }
}

/** Size from which an incomplete event is forwarded in parts instead of held. */
const MAX_HELD_CHARS = 1024 * 1024;
/** Two line ends in a row; the second may be the CR of a CRLF. */
const BLANK_LINE = /\n[\n\r]|\r\r/g;
const ANY_LINE_END = /[\r\n]/g;
const [LF, CR] = [0x0a, 0x0d];

/**
 * Splits a byte stream at the blank lines that end SSE events, so events are read and forwarded whole. Lines end with
 * LF, CR or CRLF in any mix (WHATWG HTML, "Server-sent events"). Works on Latin-1 text, one character a byte, and
 * preserves all bytes. An event ends at once with its blank line. If that is a CR at the end of a chunk, an LF of the
 * same line end may follow, and is returned separately as `\n`; so is a byte order mark.
 *
 * Some relays send events one line apart, or lines of JSON without `data:`. Clients that read lines take each for an
 * event, and so does this (`isByLine`), from the first `data:` line that is whole JSON and is followed by another.
 */
export class EventSplitter {
  #text = '';
  #at = 0;
  /** Pieces of the incomplete event, already searched. */
  #held: string[] = [];
  #heldChars = 0;
  /** Last character before `#text` if it belongs to the current event; otherwise 0. */
  #before = 0;
  #hasCr = false;
  #isAfterCr = false;
  #hasBegun = false;
  #isLarge = false;
  /** The last result of `next` is part of an event too large to hold. */
  isPart = false;
  /** Each line is an event. */
  isByLine = false;
  /** Of the current event: its first line, until it is decided whether the lines are events. */
  #firstLine: 'open' | 'ended' | 'decided' = 'open';

  /** The last result of `next` ended its event. */
  get isEnd(): boolean {
    return !this.#isLarge;
  }

  /** Beginning of the incomplete event, without forwarded parts of a large one. */
  get held(): string {
    return this.#held.join('');
  }

  push(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    this.#text = this.#at === this.#text.length ? text : this.#text.slice(this.#at) + text;
    this.#at = 0;
    this.#hasCr = this.#text.includes('\r');
  }

  /**
   * Returns the next whole event with its blank line, or the next part of a large one; undefined if it has not arrived.
   */
  next(): string | undefined {
    const text = this.#text;
    const start = this.#at;
    this.isPart = false;
    if (start === text.length) return undefined;
    const alone = this.#alone(text, start);
    if (alone !== undefined) return alone;
    const end = this.#eventEnd(text, start);
    const found = end < 0 ? text.slice(start) : text.slice(start, end);
    if (!this.isByLine && this.#beginsLines(found)) return this.next();
    if (end < 0) return this.#hold(found);
    this.#at = end;
    this.#before = 0;
    this.#firstLine = 'open';
    this.isPart = this.#isLarge;
    this.#isLarge = false;
    return this.#heldChars === 0 ? found : this.#release(found);
  }

  /** Decides once for each event, when its first line of data has ended and the next line has begun. */
  #beginsLines(found: string): boolean {
    if (this.#firstLine === 'open' && /[\r\n]/.test(found)) this.#firstLine = 'ended';
    if (this.#firstLine === 'decided' || (this.#firstLine === 'open' && !/^\s*[{[]/.test(found)))
      return false;
    const event = this.#heldChars === 0 ? found : this.held + found;
    const isOfLines = areLines(event) ?? (event.length > MAX_FIRST_LINE_CHARS ? false : undefined);
    if (isOfLines !== undefined) this.#firstLine = 'decided';
    if (!isOfLines) return false;
    this.isByLine = true;
    this.#text = event + this.#text.slice(this.#at + found.length);
    this.#at = 0;
    this.#before = 0;
    this.#release('');
    return true;
  }

  /** Removes and returns the text after the last whole event. */
  rest(): string {
    const rest = this.#release(this.#text.slice(this.#at));
    this.#at = this.#text.length;
    return rest;
  }

  /** A byte order mark or the rest of a line end, which belong to no event. */
  #alone(text: string, start: number): string | undefined {
    if (this.#isAfterCr) {
      this.#isAfterCr = false;
      if (text.charCodeAt(start) === LF) {
        this.#at++;
        return '\n';
      }
    }
    if (this.#hasBegun) return undefined;
    this.#hasBegun = text.length >= BYTE_ORDER_MARK.length || !BYTE_ORDER_MARK.startsWith(text);
    if (!this.#hasBegun) return undefined;
    if (!text.startsWith(BYTE_ORDER_MARK)) return undefined;
    this.#at = BYTE_ORDER_MARK.length;
    return BYTE_ORDER_MARK;
  }

  /** Index after the blank line that ends the current event; -1 if it has not arrived. */
  #eventEnd(text: string, from: number): number {
    if (this.isByLine) {
      ANY_LINE_END.lastIndex = from;
      const found = ANY_LINE_END.exec(text);
      return found ? this.#afterLineEnd(text, found.index) : -1;
    }
    const first = text.charCodeAt(from);
    // The blank line may begin before the chunk.
    if (this.#before === LF && (first === LF || first === CR)) return this.#afterLineEnd(text, from);
    if (this.#before === CR && first === CR) return this.#afterLineEnd(text, from);
    if (!this.#hasCr) {
      const at = text.indexOf('\n\n', from);
      return at < 0 ? -1 : at + 2;
    }
    BLANK_LINE.lastIndex = from;
    const found = BLANK_LINE.exec(text);
    return found ? this.#afterLineEnd(text, found.index + 1) : -1;
  }

  #afterLineEnd(text: string, at: number): number {
    if (text.charCodeAt(at) === LF) return at + 1;
    this.#isAfterCr = at + 1 === text.length;
    return text.charCodeAt(at + 1) === LF ? at + 2 : at + 1;
  }

  #hold(text: string): string | undefined {
    if (!this.#hasBegun) return undefined;
    this.#at = this.#text.length;
    this.#before = text.charCodeAt(text.length - 1);
    if (!this.#isLarge && this.#heldChars + text.length <= MAX_HELD_CHARS) {
      this.#held.push(text);
      this.#heldChars += text.length;
      return undefined;
    }
    this.#isLarge = true;
    this.isPart = true;
    return this.#release(text);
  }

  #release(last: string): string {
    if (this.#heldChars === 0) return last;
    const text = this.#held.join('') + last;
    this.#held = [];
    this.#heldChars = 0;
    return text;
  }
}

const LINE = /([^\r\n]*)(\r\n|\n|\r)/y;
/** A line of data that is not empty. */
const DATA = /^data: *\S/;

/**
 * Whether an event, or its beginning, is of lines that are events of their own: its first line of data is whole JSON, and
 * another line of data follows. Undefined if too little has come.
 */
function areLines(event: string): boolean | undefined {
  if (/^\s*[{[]/.test(event)) return true;
  let first: string | undefined;
  for (let at = 0; ; at = LINE.lastIndex) {
    LINE.lastIndex = at;
    // The rest of a line may still come, but its beginning shows what it is.
    const line = LINE.exec(event)?.[1];
    const isData = DATA.test(line ?? event.slice(at));
    if (isData && first !== undefined) return isJson(first);
    if (line === undefined) return undefined;
    if (line === '' && first !== undefined) return false;
    if (isData) first = line.slice('data:'.length);
  }
}
