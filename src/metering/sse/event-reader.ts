import type { EventAction, StreamMeter } from '../meter.ts';
import { LargeEvent } from './event.ts';

/**
 * Cuts a stream into SSE events and has the meter read them. Takes about a MiB of memory at most, whatever their size.
 */
export class EventReader {
  readonly #meter: StreamMeter;
  readonly #splitter = new EventSplitter();
  /** The event that is passing in parts, because it is too large to hold. */
  #large: LargeEvent | undefined;
  /** The meter's verdict on what `next` or `end` returned last. The beginning of a large event has always passed already. */
  verdict: EventAction = 'pass';

  constructor(meter: StreamMeter) {
    this.#meter = meter;
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** The next event, or part of a large one, after the meter has read it; undefined if none has come. */
  next(): string | undefined {
    const event = this.#splitter.next();
    if (event === undefined) return undefined;
    // The LF of a CRLF that ended the last event.
    if (event === '\n') {
      if (this.verdict !== 'drop') this.verdict = 'pass';
    } else if (this.#splitter.isPart) this.#readPart(event);
    else this.verdict = this.#meter.event(event);
    return event;
  }

  /** Reads the last event, whose blank line is missing. */
  end(): string {
    const rest = this.rest();
    if (this.#large) this.#largeEnded(this.#large);
    else this.verdict = rest === '' ? 'pass' : this.#meter.event(rest);
    return rest;
  }

  /** Takes out the bytes that were not read. */
  rest(): string {
    return this.#splitter.rest();
  }

  /** Shows the meter the event that has not come whole, since nothing more comes or the client has left. */
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

/** Size from which an incomplete event is passed on in parts rather than held back. */
const HELD_MAX_CHARS = 1024 * 1024;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** Where one line end follows another; the second may be the CR of a CRLF. */
const BLANK_LINE = /\n[\n\r]|\r\r/g;
const [LF, CR] = [0x0a, 0x0d];

/**
 * Cuts a byte stream at the blank lines that end SSE events, so that an event is read and passed on whole. Lines end
 * with LF, CR or CRLF in any mix (WHATWG HTML, "Server-sent events"). Works on Latin-1 text, a byte a character: what
 * comes out is what went in. An event ends with its blank line at once: if that is a CR that ends the chunk, an LF
 * of the same line end may still come, and then comes out by itself, as `\n`; so does a byte order mark.
 */
export class EventSplitter {
  #text = '';
  #at = 0;
  /** Pieces of an event whose end has not come; they have been searched. */
  #held: string[] = [];
  #heldChars = 0;
  /** The last character before `#text` if it belongs to the current event; else 0. */
  #before = 0;
  #hasCr = false;
  #isAfterCr = false;
  #hasBegun = false;
  #isLarge = false;
  /** True if the text that `next` returned last is a part of an event that is too large to be held. */
  isPart = false;

  /** True if the text that `next` returned last ended its event. */
  get isEnd(): boolean {
    return !this.#isLarge;
  }

  /** The beginning of the event whose end has not come, without the forwarded part of a large one. */
  get held(): string {
    return this.#held.join('');
  }

  push(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    this.#text = this.#at === this.#text.length ? text : this.#text.slice(this.#at) + text;
    this.#at = 0;
    this.#hasCr = this.#text.includes('\r');
  }

  /** The next whole event, its blank line included, or the next part of a large one; undefined: it has not come yet. */
  next(): string | undefined {
    const text = this.#text;
    const start = this.#at;
    this.isPart = false;
    if (start === text.length) return undefined;
    const alone = this.#alone(text, start);
    if (alone !== undefined) return alone;
    const end = this.#eventEnd(text, start);
    if (end < 0) return this.#hold(start === 0 ? text : text.slice(start));
    this.#at = end;
    this.#before = 0;
    this.isPart = this.#isLarge;
    this.#isLarge = false;
    const last = start === 0 && end === text.length ? text : text.slice(start, end);
    return this.#heldChars === 0 ? last : this.#release(last);
  }

  /** Takes out the rest after the last whole event. */
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
    if (!this.#hasBegun || !text.startsWith(BYTE_ORDER_MARK)) return undefined;
    this.#at = BYTE_ORDER_MARK.length;
    return BYTE_ORDER_MARK;
  }

  /** Index after the blank line that ends the current event; -1 if it has not come yet. */
  #eventEnd(text: string, from: number): number {
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
    if (!this.#isLarge && this.#heldChars + text.length <= HELD_MAX_CHARS) {
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
