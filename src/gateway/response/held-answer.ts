import type { KindOfEvent } from '../../metering/sse/event.ts';
import { EventSplitter } from '../../metering/sse/event-reader.ts';
import type { AnswerSink } from '../upstream/exchange.ts';
import type { Reading, Relay } from './recipient.ts';

/** Most bytes of an answer that are held until it is clear what it is. */
const HELD_MAX_BYTES = 256 * 1024;
/** Most bytes of an error, and the longest wait for them: a call does not wait longer for the next target. */
const ERROR_MAX_BYTES = 64 * 1024;
const ERROR_WITHIN_MS = 2_000;

/**
 * An error of a provider, held until it is whole, or large, or late. `decided` is then called once; if the call goes on
 * elsewhere it calls nothing, else `passTo`.
 */
export class HeldError implements AnswerSink {
  readonly #decided: (held: HeldError) => void;
  readonly #timer: NodeJS.Timeout;
  #chunks: Buffer[] = [];
  #length = 0;
  #isDecided = false;
  #ended: 'no' | 'end' | Error = 'no';
  #sink: AnswerSink | undefined;

  constructor(decided: (held: HeldError) => void) {
    this.#decided = decided;
    this.#timer = setTimeout(() => this.#decide(), ERROR_WITHIN_MS);
  }

  /** The error as far as it has come. */
  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Passes on what has come, and what comes. */
  passTo(sink: AnswerSink): void {
    this.#sink = sink;
    for (const chunk of this.#chunks) sink.data(chunk);
    this.#chunks = [];
    if (this.#ended === 'end') sink.end();
    else if (this.#ended !== 'no') sink.error(this.#ended);
  }

  data(chunk: Buffer): boolean {
    if (this.#sink) return this.#sink.data(chunk);
    if (this.#isDecided) return true;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > ERROR_MAX_BYTES) this.#decide();
    return true;
  }

  end(): void {
    if (this.#sink) this.#sink.end();
    this.#ended = 'end';
    this.#decide();
  }

  error(error: Error): void {
    if (this.#sink) this.#sink.error(error);
    this.#ended = error;
    this.#decide();
  }

  #decide(): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    clearTimeout(this.#timer);
    this.#decided(this);
  }
}

/** Callbacks of a HeldOpening. Exactly one of `opened`, `failed` and `broke` is called, once. */
interface Opening {
  readonly kindOf: KindOfEvent;
  /** Whether there is memory to hold so many bytes; if not, the answer is shown as it is. */
  mayHold(bytes: number): boolean;
  /** A sign of life, which the client gets at once. */
  ping(event: string): void;
  /** The answer has content, or is over: its relay is given everything that was held. */
  opened(): Relay & AnswerSink;
  /** The answer says that the call failed, before any content. `events`: all that came. */
  failed(event: string, events: Buffer): void;
  /** The answer broke off before any content. */
  broke(error: Error, events: Buffer): void;
}

/**
 * The opening of a streamed answer, held until its first content: until then the call may go on at another target
 * (specification section 12, Hand-over).
 */
export class HeldOpening implements AnswerSink, Relay {
  readonly #opening: Opening;
  readonly #splitter = new EventSplitter();
  #held = '';
  #relay: (Relay & AnswerSink) | undefined;
  #isOver = false;

  constructor(opening: Opening) {
    this.#opening = opening;
  }

  reading(): Reading | undefined {
    return this.#relay?.reading();
  }

  data(chunk: Buffer): boolean {
    if (this.#relay) return this.#relay.data(chunk);
    if (this.#isOver) return true;
    this.#splitter.push(chunk);
    for (let event = this.#splitter.next(); event !== undefined; event = this.#splitter.next()) {
      // What belongs to no event stays in its place.
      const isEvent = event.includes(':');
      const kind = this.#splitter.isPart ? 'content' : isEvent ? this.#opening.kindOf(event) : 'opening';
      if (kind === 'ping') {
        this.#opening.ping(event);
        continue;
      }
      this.#held += event;
      if (kind === 'failure') {
        this.#isOver = true;
        this.#opening.failed(event, this.#taken());
        return true;
      }
      const { length } = this.#held;
      if (kind === 'content' || length > HELD_MAX_BYTES || !this.#opening.mayHold(length)) return this.open();
    }
    return true;
  }

  end(): void {
    if (this.#isOver) return;
    if (!this.#relay) this.open();
    this.#relay?.end();
  }

  error(error: Error): void {
    if (this.#relay) this.#relay.error(error);
    else if (!this.#isOver) {
      this.#isOver = true;
      this.#opening.broke(error, this.#taken());
    }
  }

  /** Passes on everything that has come. Safe to call again. False asks for no more until there is room. */
  open(): boolean {
    if (this.#relay || this.#isOver) return true;
    const held = this.#taken();
    this.#relay = this.#opening.opened();
    return held.length > 0 ? this.#relay.data(held) : true;
  }

  #taken(): Buffer {
    const held = Buffer.from(this.#held + this.#splitter.rest(), 'latin1');
    this.#held = '';
    return held;
  }
}
