import type { Terms } from '../../domain/bill.ts';
import type { Usage } from '../../domain/units.ts';
import type { StreamMeter } from '../../metering/meter.ts';
import { eventData } from '../../metering/sse/event.ts';
import { EventReader } from '../../metering/sse/event-reader.ts';
import { shownError } from '../upstream/credential.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { PartWriter } from './part-writer.ts';
import { providerError } from './provider-error.ts';
import { NO_USAGE, type Reading, type Recipient, type Relay } from './recipient.ts';
import { estimated, hiddenTokens, termsOfEstimate, unreported } from './unreported.ts';

/** Most characters, and then most milliseconds, that an upstream may go on after the event that ends its answer. */
const AFTER_END_MAX_CHARS = 64 * 1024;
const AFTER_END_MS = 2_000;
const WENT_ON = new Error('the upstream went on after the end of its answer');

/**
 * Relay for an SSE answer: it is forwarded as it comes, with back-pressure, and its usage is read on the way. The event
 * that ends the answer is held back until the settle is on the wire to Redis (specification section 5, Settle). Once
 * the client has left, the answer is only read.
 */
export class StreamRelay implements AnswerSink, Relay {
  readonly #recipient: Recipient;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  readonly #meter: StreamMeter;
  readonly #events: EventReader;
  #received = false;
  /** True once a whole event has arrived. */
  #begun = false;
  /** True once the event that ends the answer has arrived; the settle follows. */
  #hasEnd = false;
  #ending = false;
  #settled = false;
  #upstreamEnded = false;
  /** Null if nothing is to be written; undefined before the first bytes, so that an earlier failure is a refusal. */
  #parts: PartWriter | null | undefined;
  /** The event that ends the answer and everything after it, in Latin-1, held back until the settle. */
  #tail = '';
  #afterEndChars = 0;
  #afterEnd: NodeJS.Timeout | undefined;
  /** The event that says that the call failed. */
  #failure: string | undefined;
  /** Time of the first visible output, by `performance.now()`. */
  #visibleAt: number | undefined;

  /** `parts`: null if the client gets nothing of the answer, so that it is only read. */
  constructor(recipient: Recipient, answer: UpstreamAnswer, parts?: null) {
    this.#recipient = recipient;
    this.#answer = answer;
    this.#parts = parts;
    this.#status = answer.statusCode;
    this.#meter = recipient.call.endpoint.meter.stream(recipient.injectedUsage, recipient.call.body);
    this.#events = new EventReader(this.#meter);
  }

  reading(): Reading | undefined {
    if (!this.#received) return undefined;
    this.#events.brokeOff();
    const { usage } = this.#meter;
    const terms = usage ? this.#meter.terms : termsOfEstimate(this.#meter.terms);
    const hidden = hiddenTokens(this.#recipient, this.#visibleAt, this.#meter.hiddenTokens);
    const { mediaTokens } = this.#recipient.call;
    return this.#reading(terms, () => {
      const counted = this.#count(mediaTokens);
      const merged = this.#merged(counted);
      return unreported(this.#recipient, { counted, merged, hidden, terms });
    });
  }

  data(chunk: Buffer): boolean {
    if (this.#ending) return this.#trailingData(chunk);
    this.#received = true;
    this.#events.push(chunk);
    let passed = '';
    for (let event = this.#events.next(); event !== undefined; event = this.#events.next()) {
      passed += this.#passed(event);
      if (this.#hasEnd) break;
    }
    if (!this.#begun && (passed !== '' || this.#hasEnd)) {
      this.#begun = true;
      this.#recipient.firstToken();
    }
    if (this.#visibleAt === undefined && this.#meter.pieces > 0) this.#visibleAt = performance.now();
    const flowing = this.#write(passed);
    if (this.#hasEnd) {
      this.#tail += this.#shown(this.#events.rest());
      this.#finish();
    } else if (this.#recipient.hasLeft && this.#meter.isReported) this.#finish();
    return flowing;
  }

  end(): void {
    this.#upstreamEnded = true;
    clearTimeout(this.#afterEnd);
    if (this.#settled) this.#endParts();
    if (this.#ending) return;
    if (this.#received) this.#write(this.#passed(this.#events.end()));
    if (this.#hasEnd || this.#meter.isWhole !== false) this.#finish();
    // Without a Content-Length, a broken connection looks like a regular end.
    else this.#broke(new Error('the stream ended before its last event'));
  }

  error(error: Error): void {
    // After its last event the answer is complete, however the connection ends.
    if (this.#ending) this.end();
    else this.#broke(error);
  }

  /** Writes to the client, if it is there. False asks for no more until there is room. */
  #write(part: string): boolean {
    return this.#recipient.hasLeft ? true : (this.#opened()?.write(part) ?? true);
  }

  #endParts(): void {
    if (!this.#recipient.hasLeft) this.#opened()?.end(this.#tail);
  }

  #opened(): PartWriter | null {
    if (this.#parts === undefined) this.#parts = this.#recipient.openStream(this.#answer);
    return this.#parts;
  }

  /** The part of `event`, which was just read, that the client gets now. */
  #passed(event: string): string {
    if (this.#meter.failed) this.#failure ??= event;
    const { verdict } = this.#events;
    if (verdict === 'pass') return event;
    if (verdict === 'drop') return '';
    if (verdict !== 'end') return verdict.replacement;
    this.#hasEnd = true;
    this.#tail = this.#shown(event);
    return '';
  }

  /** What the client gets of a text: errors may quote the gateway's credential. */
  #shown(text: string): string {
    return this.#meter.failed ? shownError(text, this.#recipient.call.body.model.upstream) : text;
  }

  #broke(error: Error): void {
    this.#recipient.broken(error, this.#status, this.reading());
  }

  /** The reading of what has come, by `estimate` if no usage was reported. */
  #reading(terms: Terms | undefined, estimate: () => Usage): Reading {
    const { usage, isEstimated, failed, resourceIds } = this.#meter;
    return {
      usage,
      terms,
      isEstimated,
      estimate,
      ...(failed ? { failed } : {}),
      ...(resourceIds ? { resourceIds } : {}),
    };
  }

  #count(mediaTokens?: number): Usage {
    return estimated(this.#recipient.call, this.#meter.outputTokens, mediaTokens);
  }

  #merged(counted: Usage): Usage {
    return this.#meter.mergeReported?.(counted) ?? counted;
  }

  /**
   * Forwards what an upstream sends after the end of its answer, within bounds; beyond them the exchange is cancelled.
   */
  #trailingData(chunk: Buffer): boolean {
    this.#afterEndChars += chunk.length;
    if (this.#afterEndChars > AFTER_END_MAX_CHARS) {
      this.#recipient.exchange.cancel(WENT_ON);
      return true;
    }
    const text = this.#shown(chunk.toString('latin1'));
    if (this.#settled) return this.#write(text);
    this.#tail += text;
    return true;
  }

  /** The reading of an answer that came to its end. One that ends by an error is without its report. */
  #ended(): Reading {
    if (!this.#received) return NO_USAGE;
    const cut = this.#meter.failed ? this.reading() : undefined;
    return cut ?? this.#reading(this.#meter.terms, () => this.#merged(this.#count()));
  }

  #finish(): void {
    if (this.#ending) return;
    this.#ending = true;
    const reading = this.#ended();
    const isCharged =
      !reading.failed || reading.usage || this.#meter.hasOutput || this.#meter.outputTokens > 0;
    // A stream that failed before the model wrote anything is not charged, like an answer of status 500.
    const finish = () => {
      this.#settled = true;
      if (this.#upstreamEnded) {
        this.#endParts();
        return;
      }
      this.#write(this.#tail);
      this.#tail = '';
      this.#afterEnd = setTimeout(() => this.#recipient.exchange.cancel(WENT_ON), AFTER_END_MS);
    };
    const { upstream } = this.#recipient.call.body.model;
    const error = this.#failure === undefined ? undefined : providerError(eventData(this.#failure), upstream);
    this.#recipient.complete(this.#status, isCharged ? reading : undefined, finish, error);
  }
}
