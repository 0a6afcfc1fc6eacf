import type { Delivery, Reading } from './delivery.ts';
import { EventSplitter, type Events } from './meter/event-splitter.ts';
import type { StreamMeter } from './meter/meter.ts';
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
  #ending = false;
  #settled = false;
  #upstreamEnded = false;
  #tail: Buffer[] = [];

  constructor(delivery: Delivery, answer: UpstreamAnswer) {
    this.#delivery = delivery;
    this.#status = answer.statusCode;
    this.#meter = delivery.call.endpoint.meter.stream(delivery.injectedUsage, delivery.call.body);
    delivery.hijack();
    const { raw } = delivery;
    raw.writeHead(answer.statusCode, delivery.clientHeaders(answer));
    raw.flushHeaders();
    raw.on('drain', () => delivery.exchange.resume());
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
    const events = this.#splitter.push(chunk);
    if (!events) return true;
    if (this.#ending) {
      this.#tail.push(events.bytes);
      return true;
    }
    return this.#pass(events);
  }

  end(): void {
    this.#upstreamEnded = true;
    const rest = this.#splitter.rest();
    if (rest && this.#ending) this.#tail.push(rest);
    // The last event may lack its blank line.
    else if (rest) this.#pass({ bytes: rest, texts: [rest.toString('latin1')] });
    if (this.#settled) this.#delivery.raw.end(Buffer.concat(this.#tail));
    else if (this.#ending || this.#meter.isWhole !== false) this.#finish();
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

  #pass(events: Events): boolean {
    const { raw } = this.#delivery;
    let from = 0;
    let at = 0;
    let flowing = true;
    const flush = (to: number) => {
      if (to > from) flowing = raw.write(events.bytes.subarray(from, to));
    };
    for (const text of events.texts) {
      const verdict = this.#meter.event(text);
      if (verdict === 'end') {
        flush(at);
        this.#tail.push(events.bytes.subarray(at));
        this.#finish();
        return flowing;
      }
      const next = at + text.length;
      if (verdict !== 'pass') {
        flush(at);
        if (verdict !== 'drop') flowing = raw.write(Buffer.from(verdict.replacement, 'latin1'));
        from = next;
      }
      at = next;
    }
    flush(at);
    return flowing;
  }

  #finish(): void {
    if (this.#ending) return;
    this.#ending = true;
    const { raw } = this.#delivery;
    const reading = this.reading() ?? NOTHING;
    const isCharged =
      !reading.failed || reading.usage || this.#meter.hasOutput || this.#meter.written() !== '';
    // A stream that failed before the model wrote anything is an upstream's error like one of status 500.
    this.#delivery.complete(this.#status, isCharged ? reading : undefined, () => {
      this.#settled = true;
      const tail = Buffer.concat(this.#tail);
      this.#tail = [];
      if (this.#upstreamEnded) raw.end(tail);
      else raw.write(tail);
    });
  }
}

/** What is known of an answer of which nothing came. */
export const NOTHING: Reading = { usage: {}, estimate: async () => ({}) };
