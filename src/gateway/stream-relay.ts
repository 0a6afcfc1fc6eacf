import type { Delivery, Reading } from './delivery.ts';
import { EventSplitter } from './meter/event-splitter.ts';
import type { StreamMeter } from './meter/meter.ts';
import { PartWriter } from './part-writer.ts';
import type { AnswerSink, UpstreamAnswer } from './upstream-transport.ts';

/**
 * Passes an SSE answer on as it comes, with back-pressure, reading usage on the way. The event that ends the answer
 * is held back until the settle is on the wire to Redis (contract section 5, Settle).
 */
export class StreamRelay implements AnswerSink {
  readonly #delivery: Delivery;
  readonly #status: number;
  readonly #splitter = new EventSplitter();
  readonly #meter: StreamMeter;
  #received = false;
  /** An event came whole. */
  #begun = false;
  #ending = false;
  #settled = false;
  #upstreamEnded = false;
  readonly #parts: PartWriter;
  /** From the event that ends the answer on: held back. Latin-1. */
  #tail = '';

  constructor(delivery: Delivery, answer: UpstreamAnswer) {
    this.#delivery = delivery;
    this.#status = answer.statusCode;
    this.#meter = delivery.call.endpoint.meter.stream(delivery.injectedUsage, delivery.call.body);
    delivery.hijack();
    const { raw } = delivery;
    raw.writeHead(answer.statusCode, delivery.clientHeaders(answer));
    raw.flushHeaders();
    this.#parts = new PartWriter(raw, () => delivery.exchange.resume());
  }

  /** Undefined before the first byte: a call of which nothing came is not charged. */
  reading(): Reading | undefined {
    if (!this.#received) return undefined;
    const { call, countTokens } = this.#delivery;
    const { usage, failed, made } = this.#meter;
    return {
      usage,
      ...(failed ? { failed } : {}),
      ...(made ? { made } : {}),
      estimate: async () => {
        const { meter } = call.endpoint;
        const written = this.#meter.written();
        const estimate = await meter.estimate(call.body, written, countTokens, call.storedTokens);
        return this.#meter.corrected?.(estimate) ?? estimate;
      },
    };
  }

  data(chunk: Buffer): boolean {
    this.#received = true;
    this.#splitter.push(chunk);
    let passed = '';
    for (let event = this.#splitter.next(); event !== undefined; event = this.#splitter.next()) {
      passed += this.#passed(event);
    }
    if (!this.#begun && (passed !== '' || this.#tail !== '')) {
      this.#begun = true;
      this.#delivery.firstToken();
    }
    const flowing = this.#parts.write(passed);
    if (this.#tail !== '') this.#finish();
    return flowing;
  }

  end(): void {
    this.#upstreamEnded = true;
    const rest = this.#splitter.rest();
    // The last event may lack its blank line.
    if (rest !== '') this.#parts.write(this.#passed(rest));
    if (this.#settled) this.#parts.end(this.#tail);
    else if (this.#tail !== '' || this.#meter.isWhole !== false) this.#finish();
    // A connection that ends the answer by its own end breaks off just so.
    else
      this.#delivery.broken(
        new Error('the stream ended before its last event'),
        this.#status,
        this.reading(),
      );
  }

  error(error: Error): void {
    // After its last event the answer is whole, however the connection ends.
    if (this.#ending) this.end();
    else this.#delivery.broken(error, this.#status, this.reading());
  }

  /** What the client gets of an event now. */
  #passed(event: string): string {
    if (this.#tail !== '' || this.#settled) {
      this.#tail += event;
      return '';
    }
    const verdict = this.#meter.event(event);
    if (verdict === 'pass') return event;
    if (verdict === 'drop') return '';
    if (verdict !== 'end') return verdict.replacement;
    this.#tail = event;
    return '';
  }

  #finish(): void {
    if (this.#ending) return;
    this.#ending = true;
    const reading = this.reading() ?? NOTHING;
    const isCharged =
      !reading.failed || reading.usage || this.#meter.hasOutput || this.#meter.written() !== '';
    // A stream that failed before the model wrote anything is an upstream's error like one of status 500.
    this.#delivery.complete(this.#status, isCharged ? reading : undefined, () => {
      this.#settled = true;
      if (this.#upstreamEnded) {
        this.#parts.end(this.#tail);
        return;
      }
      this.#parts.write(this.#tail);
      this.#tail = '';
    });
  }
}

/** What is known of an answer of which nothing came. */
export const NOTHING: Reading = { usage: {}, estimate: async () => ({}) };
