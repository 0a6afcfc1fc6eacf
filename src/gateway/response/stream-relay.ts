import type { StreamMeter } from '../../metering/meter.ts';
import { EventReader } from '../../metering/sse/event-reader.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { PartWriter } from './part-writer.ts';
import { type LeftBehind, NO_USAGE, type Reading, type Recipient } from './recipient.ts';

/** Bounds for an upstream that sends more after the event that ends its answer: in characters and in time. */
const AFTER_END_MAX_CHARS = 64 * 1024;
const AFTER_END_MS = 2_000;
const WENT_ON = new Error('the upstream went on after the end of its answer');

/**
 * Passes an SSE answer on as it comes, with back-pressure, reading usage on the way. The event that ends the answer
 * is held back until the settle is on the wire to Redis (specification section 5, Settle).
 */
export class StreamRelay implements AnswerSink {
  readonly #recipient: Recipient;
  readonly #status: number;
  readonly #meter: StreamMeter;
  readonly #events: EventReader;
  #received = false;
  /** A whole event has arrived. */
  #begun = false;
  /** The event that ends the answer has arrived; the settle follows. */
  #hasEnd = false;
  #ending = false;
  #settled = false;
  #upstreamEnded = false;
  readonly #parts: PartWriter;
  /** The event that ends the answer and what follows it, held back until the settle. Latin-1. */
  #tail = '';
  #afterEndChars = 0;
  #afterEnd: NodeJS.Timeout | undefined;
  /** Set when the client has left: the charge if no usage arrives. Nothing is written any more. */
  #left: Reading | undefined;

  constructor(recipient: Recipient, answer: UpstreamAnswer) {
    this.#recipient = recipient;
    this.#status = answer.statusCode;
    this.#meter = recipient.call.endpoint.meter.stream(recipient.injectedUsage, recipient.call.body);
    this.#events = new EventReader(this.#meter);
    recipient.hijack();
    const { raw } = recipient;
    raw.writeHead(answer.statusCode, recipient.clientHeaders(answer));
    raw.flushHeaders();
    this.#parts = new PartWriter(raw, () => recipient.exchange.resume());
  }

  /** Undefined before the first byte: a call of which nothing came is not charged. `outputText`: default all until now. */
  reading(outputText?: string): Reading | undefined {
    if (!this.#received) return undefined;
    const { call, countTokens } = this.#recipient;
    const { failed, resourceIds } = this.#meter;
    return {
      ...this.#reported(),
      ...(failed ? { failed } : {}),
      ...(resourceIds ? { resourceIds } : {}),
      estimate: async () => {
        const { meter } = call.endpoint;
        const text = outputText ?? this.#meter.outputText();
        const estimate = await meter.estimate(call.body, text, countTokens, call.storedTokens);
        return this.#meter.mergeReported?.(estimate) ?? estimate;
      },
    };
  }

  /** Reading goes on until the usage arrives, or more content, which the client did not get and does not pay for. */
  left(): LeftBehind | undefined {
    this.#events.brokeOff();
    this.#left = this.reading(this.#meter.usage ? '' : this.#meter.outputText());
    if (!this.#left || this.#left.usage) return undefined;
    return { reading: this.#left, isClosing: this.#meter.isClosing };
  }

  data(chunk: Buffer): boolean {
    if (this.#ending) return this.#wentOn(chunk);
    this.#received = true;
    this.#events.push(chunk);
    if (this.#left) return this.#readOn(this.#left);
    let passed = '';
    for (let event = this.#events.next(); event !== undefined; event = this.#events.next()) {
      passed += this.#passed(event);
      if (this.#hasEnd) break;
    }
    if (!this.#begun && (passed !== '' || this.#hasEnd)) {
      this.#begun = true;
      this.#recipient.firstToken();
    }
    const flowing = this.#parts.write(passed);
    if (this.#hasEnd) {
      this.#tail += this.#events.rest();
      this.#finish();
    }
    return flowing;
  }

  end(): void {
    this.#upstreamEnded = true;
    clearTimeout(this.#afterEnd);
    if (this.#settled) this.#parts.end(this.#tail);
    if (this.#ending) return;
    const rest = this.#events.end();
    if (this.#left) this.#recipient.settleLeft(this.#bestOf(this.#left));
    else {
      this.#parts.write(this.#passed(rest));
      if (this.#hasEnd || this.#meter.isWhole !== false) this.#finish();
      // Without a length, a broken connection looks like a regular end.
      else this.#broke(new Error('the stream ended before its last event'));
    }
  }

  error(error: Error): void {
    // After its last event the answer is complete, however the connection ends.
    if (this.#ending) this.end();
    else if (this.#left) this.#recipient.settleLeft(this.#left);
    else this.#broke(error);
  }

  /** The part of the event just read that the client gets now. */
  #passed(event: string): string {
    const { verdict } = this.#events;
    if (verdict === 'pass') return event;
    if (verdict === 'drop') return '';
    if (verdict !== 'end') return verdict.replacement;
    this.#hasEnd = true;
    this.#tail = event;
    return '';
  }

  #broke(error: Error): void {
    this.#events.brokeOff();
    this.#recipient.broken(error, this.#status, this.reading());
  }

  /** Reads events for their usage after the client has left. */
  #readOn(left: Reading): boolean {
    const { pieces } = this.#meter;
    for (let event = this.#events.next(); event !== undefined; event = this.#events.next()) {
      if (!this.#meter.usage && this.#meter.pieces === pieces && this.#events.verdict !== 'end') continue;
      this.#recipient.settleLeft(this.#bestOf(left));
      break;
    }
    return true;
  }

  #reported(): Pick<Reading, 'usage' | 'serviceTiers' | 'isEstimated'> {
    const { usage, serviceTiers, isEstimated } = this.#meter;
    return { usage, serviceTiers, isEstimated };
  }

  /** The reading with the reported usage, if that has arrived since. */
  #bestOf(left: Reading): Reading {
    return this.#meter.usage ? { ...left, ...this.#reported() } : left;
  }

  /**
   * Forwards what an upstream sends after the end of its answer, within bounds; beyond them the exchange is cancelled.
   */
  #wentOn(chunk: Buffer): boolean {
    this.#afterEndChars += chunk.length;
    if (this.#afterEndChars > AFTER_END_MAX_CHARS) {
      this.#recipient.exchange.cancel(WENT_ON);
      return true;
    }
    const text = chunk.toString('latin1');
    if (this.#settled) return this.#parts.write(text);
    this.#tail += text;
    return true;
  }

  #finish(): void {
    if (this.#ending) return;
    this.#ending = true;
    const reading = this.reading() ?? NO_USAGE;
    const isCharged =
      !reading.failed || reading.usage || this.#meter.hasOutput || this.#meter.outputText() !== '';
    // A stream that failed before the model wrote anything is an upstream's error like one of status 500.
    this.#recipient.complete(this.#status, isCharged ? reading : undefined, () => {
      this.#settled = true;
      if (this.#upstreamEnded) {
        this.#parts.end(this.#tail);
        return;
      }
      this.#parts.write(this.#tail);
      this.#tail = '';
      this.#afterEnd = setTimeout(() => this.#recipient.exchange.cancel(WENT_ON), AFTER_END_MS);
    });
  }
}
