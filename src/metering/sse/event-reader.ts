import type { StreamMeter, Verdict } from '../meter.ts';
import { EventSplitter } from './event-splitter.ts';
import { LargeEvent } from './large-event.ts';

/** Cuts a stream into events and has the meter read them, those of any size: it takes about a MiB at most. */
export class EventReader {
  readonly #meter: StreamMeter;
  readonly #splitter = new EventSplitter();
  /** An event too large to be held is passing. */
  #large: LargeEvent | undefined;
  #verdict: Verdict = 'pass';

  constructor(meter: StreamMeter) {
    this.#meter = meter;
  }

  /** On what `next` or `end` returned last. The beginning of a large event has passed before it can be judged. */
  get verdict(): Verdict {
    return this.#verdict;
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** The next event, or part of one, that has been read; undefined: none has come. */
  next(): string | undefined {
    const event = this.#splitter.next();
    if (event === undefined) return undefined;
    // What is left of the line end of the event before.
    if (event === '\n') {
      if (this.#verdict !== 'drop') this.#verdict = 'pass';
    } else if (this.#splitter.isPart) this.#readPart(event);
    else this.#verdict = this.#meter.event(event);
    return event;
  }

  /** Reads what came last, whose blank line is missing. */
  end(): string {
    const rest = this.rest();
    if (this.#large) this.#largeEnded(this.#large);
    else this.#verdict = rest === '' ? 'pass' : this.#meter.event(rest);
    return rest;
  }

  /** What has come and was not read; taken out. */
  rest(): string {
    return this.#splitter.rest();
  }

  /** Nothing more comes, or nobody is there any more to get it. */
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
