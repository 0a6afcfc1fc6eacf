import type { StreamMeter, Verdict } from '../meter.ts';
import { EventSplitter } from './event-splitter.ts';
import { LargeEvent } from './large-event.ts';

/**
 * Cuts a stream into SSE events and has the meter read them. Takes about a MiB of memory at most, whatever their size.
 */
export class EventReader {
  readonly #meter: StreamMeter;
  readonly #splitter = new EventSplitter();
  /** The event that is passing in parts, because it is too large to hold. */
  #large: LargeEvent | undefined;
  #verdict: Verdict = 'pass';

  constructor(meter: StreamMeter) {
    this.#meter = meter;
  }

  /**
   * The meter's verdict on what `next` or `end` returned last. The beginning of a large event has always passed
   * already.
   */
  get verdict(): Verdict {
    return this.#verdict;
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** The next event, or part of a large one, after the meter has read it; undefined where none has come. */
  next(): string | undefined {
    const event = this.#splitter.next();
    if (event === undefined) return undefined;
    // The LF of a CRLF that ended the last event.
    if (event === '\n') {
      if (this.#verdict !== 'drop') this.#verdict = 'pass';
    } else if (this.#splitter.isPart) this.#readPart(event);
    else this.#verdict = this.#meter.event(event);
    return event;
  }

  /** Reads the last event, whose blank line is missing. */
  end(): string {
    const rest = this.rest();
    if (this.#large) this.#largeEnded(this.#large);
    else this.#verdict = rest === '' ? 'pass' : this.#meter.event(rest);
    return rest;
  }

  /** Takes out what has come and was not read. */
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
    this.#verdict = 'pass';
    if (this.#splitter.isEnd) this.#largeEnded(this.#large);
  }

  #largeEnded(large: LargeEvent): void {
    this.#large = undefined;
    this.#verdict = this.#meter.event(large.toString()) === 'end' ? 'end' : 'pass';
  }
}
