import type { Terms } from '../../domain/bill.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Usage } from '../../domain/units.ts';
import { BYTE_ORDER_MARK } from '../../metering/answer.ts';
import type { StreamMeter } from '../../metering/meter.ts';
import { errorOfEvent, isPing, saysNothing } from '../../metering/sse/event.ts';
import { EventReader } from '../../metering/sse/event-reader.ts';
import { wordsOf } from '../targets/failures.ts';
import { shownError } from '../upstream/credential.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { ClientResponse } from './client-response.ts';
import type { PartWriter } from './part-writer.ts';
import { callError, NO_WORDS } from './provider-error.ts';
import type { Reading, Relay } from './reading.ts';
import { estimated, hiddenTokens, termsOfEstimate, unreported } from './unreported.ts';

/** How much, and for how long, an upstream may send after the event that ends its answer. */
const MAX_AFTER_END_CHARS = 64 * 1024;
const AFTER_END_MS = 2_000;
const WENT_ON = new Error('the upstream went on after the end of its answer');
/** Most characters of an opening that are held until the first content. */
const MAX_OPENING_CHARS = 256 * 1024;

/**
 * Relays an SSE answer event by event, with back-pressure, and reads its usage. The event that ends the answer is held
 * back until the settle is on the wire to Redis (specification section 5, Settle). Once the client has left, the answer
 * is only read.
 *
 * States: held → shown → ended (its end has come, and perhaps not its report) → settling → settled. Until the answer
 * begins, the client sees nothing of it but signs of life, so that a failure can go to another target. It begins with
 * its first event, or with its first content if the model has several targets.
 */
export class StreamRelay implements AnswerSink, Relay {
  readonly #response: ClientResponse;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  readonly #meter: StreamMeter;
  readonly #events: EventReader;
  #received = false;
  /** True once the answer has begun. */
  #isShown = false;
  /** What has come before that. */
  #held = '';
  /** True if the call went on elsewhere, or was refused. */
  #isOver = false;
  /** True once the event that ends the answer has arrived. */
  #hasEnd = false;
  #ending = false;
  #settled = false;
  #upstreamEnded = false;
  /** Undefined if nothing is to be written. */
  #parts: PartWriter | undefined;
  /** The event that ends the answer and everything after it, in Latin-1, held back until the settle. */
  #tail = '';
  #afterEndChars = 0;
  #afterEnd: NodeJS.Timeout | undefined;
  /** The event that says that the call failed. */
  #failure: string | undefined;
  /** Time of the first visible output, by `performance.now()`. */
  #visibleAt: number | undefined;

  constructor(response: ClientResponse, answer: UpstreamAnswer) {
    this.#response = response;
    this.#answer = answer;
    this.#status = answer.statusCode;
    const { endpoint, facts, sent } = response.call;
    this.#meter = endpoint.meter.stream(sent.injectedUsage, facts);
    this.#events = new EventReader(this.#meter);
    // White space before the answer may be shown.
    if (response.raw.headersSent && !response.mayMove) this.#begin();
  }

  reading(): Reading | undefined {
    if (!this.#received) return undefined;
    this.#events.brokeOff();
    const { usage } = this.#meter;
    const terms = usage ? this.#meter.terms : termsOfEstimate(this.#meter.terms);
    const hidden = hiddenTokens(this.#response, this.#visibleAt, this.#meter.hiddenTokens);
    const { mediaTokens } = this.#response.call.quote;
    return this.#reading(terms, () => {
      const counted = this.#count(mediaTokens);
      const merged = this.#merged(counted);
      return unreported(this.#response, { counted, merged, hidden, terms });
    });
  }

  data(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#ending) return this.#trailingData(chunk);
    this.#received = true;
    if (this.#hasEnd) this.#afterEndChars += chunk.length;
    this.#events.push(chunk);
    let passed = '';
    for (let event = this.#events.next(); event !== undefined; event = this.#events.next())
      passed += this.#passed(event);
    if (this.#visibleAt === undefined && this.#meter.pieces > 0) this.#visibleAt = performance.now();
    const flowing = this.#write(passed);
    if (this.#hasEnd) this.#awaitReport();
    else if (this.#response.hasLeft && this.#meter.isReported) this.#finish();
    return flowing;
  }

  end(): void {
    if (this.#isOver) return;
    this.#upstreamEnded = true;
    clearTimeout(this.#afterEnd);
    if (this.#settled) this.#endParts();
    if (this.#ending) return;
    const rest = this.#events.end();
    if (rest !== '' || this.#events.verdict === 'end') this.#write(this.#passed(rest));
    if (this.#hasEnd || this.#meter.isWhole !== false || this.#isEmpty) this.#finish();
    // Without a Content-Length, a broken connection looks like a regular end.
    else this.#broke(new Error('the stream ended before its last event'));
  }

  error(error: Error): void {
    if (this.#isOver) return;
    // After its last event the answer is complete, however the connection ends.
    if (this.#hasEnd) this.end();
    else this.#broke(error);
  }

  /** Writes unless the client has left. False: wait for drain. */
  #write(part: string): boolean {
    return this.#response.hasLeft || !this.#parts ? true : this.#parts.write(part);
  }

  #endParts(): void {
    if (!this.#response.hasLeft) this.#parts?.end(this.#tail);
  }

  /** The part of `event`, which was just read, that the client gets now. */
  #passed(event: string): string {
    if (this.#meter.failed) this.#failure ??= event;
    const { verdict } = this.#events;
    if (verdict === 'end') this.#hasEnd = true;
    if (this.#hasEnd) {
      this.#tail += this.#shown(textOf(event, verdict));
      return '';
    }
    if (this.#isShown) return textOf(event, verdict);
    if (event !== BYTE_ORDER_MARK) return this.#opening(event, textOf(event, verdict));
    this.#held += event;
    return '';
  }

  /** Holds what precedes the beginning of the answer. */
  #opening(event: string, text: string): string {
    const { mayMove, call } = this.#response;
    const mark = this.#held === BYTE_ORDER_MARK ? BYTE_ORDER_MARK : '';
    // A line end may belong to what is held.
    const isAlone = this.#held === mark || event.trim() !== '';
    // With a single target everything begins the answer but an event that no client can read.
    const isHeld = !this.#events.isLarge && !this.#meter.hasAnswer;
    const mayWait = isHeld && (mayMove || saysNothing(event));
    if (mayWait && mayMove && isAlone && isPing(event)) {
      if (mark !== '') this.#held = '';
      this.#response.ping(this.#answer, mark + text);
      return '';
    }
    this.#held += text;
    const { length } = this.#held;
    if (mayWait && length <= MAX_OPENING_CHARS && call.memory.holdAnswer(length)) return '';
    return this.#begin();
  }

  /** Begins to show the answer; returns what was held of it. */
  #begin(): string {
    const held = this.#held;
    this.#held = '';
    this.#isShown = true;
    this.#response.firstToken();
    this.#response.begins();
    if (!this.#response.hasLeft) this.#parts = this.#response.openStream(this.#answer);
    return held;
  }

  /** What the client gets of a text: errors may quote the gateway's credential. */
  #shown(text: string): string {
    return this.#meter.failed ? shownError(text, this.#response.call.facts.model.upstream) : text;
  }

  #broke(error: Error): void {
    if (this.#isShown) this.#response.broken(error, this.#status, this.reading());
    else this.#response.brokenUnshown(error, this.#status, () => this.reading());
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
    return estimated(this.#response.call, this.#meter.outputTokens, mediaTokens);
  }

  #merged(counted: Usage): Usage {
    // Of a whole report an estimate is made only if no account could pay it.
    return this.#meter.usage ? counted : (this.#meter.mergeReported?.(counted) ?? counted);
  }

  /**
   * Forwards what an upstream sends after the end of its answer, within bounds; beyond them the exchange is cancelled.
   */
  #trailingData(chunk: Buffer): boolean {
    this.#afterEndChars += chunk.length;
    if (this.#afterEndChars > MAX_AFTER_END_CHARS) {
      this.#response.cancel(WENT_ON);
      return true;
    }
    const text = this.#shown(chunk.toString('latin1'));
    if (this.#settled) return this.#write(text);
    this.#tail += text;
    return true;
  }

  /** Some providers report behind the event that ends the answer, so an answer without a report is read to its end. */
  #awaitReport(): void {
    const { failed, usage, isMeasured } = this.#meter;
    const isReported = failed || (usage !== undefined && !isMeasured);
    if (isReported || this.#afterEndChars > MAX_AFTER_END_CHARS) this.#finish();
    else this.#afterEnd ??= setTimeout(() => this.#finish(), AFTER_END_MS);
  }

  /** Nothing of an answer has come, and no report of one. */
  get #isEmpty(): boolean {
    return !this.#meter.hasAnswer && !isAbove0(this.#meter.usage);
  }

  /** The reading of an answer that came to its end. One that ends by an error is without its report. */
  #ended(): Reading | undefined {
    const { failed, usage, pieces } = this.#meter;
    // One that failed before the model wrote anything is not charged, like an answer of status 500.
    if (this.#isEmpty || (failed && !usage && pieces === 0)) return undefined;
    const cut = failed ? this.reading() : undefined;
    return cut ?? this.#reading(this.#meter.terms, () => this.#merged(this.#count()));
  }

  #finish(): void {
    if (this.#ending) return;
    this.#ending = true;
    clearTimeout(this.#afterEnd);
    this.#tail += this.#shown(this.#events.rest());
    if (!this.#isShown) {
      if (this.#meter.failed || this.#isEmpty) {
        this.#failedUnshown();
        return;
      }
      this.#write(this.#begin());
    }
    const finish = () => {
      this.#settled = true;
      if (this.#upstreamEnded) {
        this.#endParts();
        return;
      }
      this.#write(this.#tail);
      this.#tail = '';
      this.#afterEnd = setTimeout(() => this.#response.cancel(WENT_ON), AFTER_END_MS);
    };
    const { upstream } = this.#response.call.facts.model;
    const told = this.#failure === undefined ? undefined : errorOfEvent(this.#failure);
    this.#response.complete(this.#status, this.#ended(), finish, callError(told, upstream));
  }

  /** The answer failed before it began: the next target's turn, or the client gets what the error says. */
  #failedUnshown(): void {
    this.#isOver = true;
    const { upstream } = this.#response.call.facts.model;
    const told = this.#failure === undefined ? undefined : errorOfEvent(this.#failure);
    const message = wordsOf(told?.message ?? '', upstream) || NO_WORDS;
    const { usage, terms } = this.#meter;
    const reported = usage ?? this.#meter.mergeReported?.({});
    const reading = isAbove0(usage) ? this.#reading(terms, () => ({ ...usage })) : undefined;
    this.#response.failedUnshown(message, isAbove0(reported) ? reported : undefined, () =>
      this.#response.fail(new GatewayError('upstream_unavailable', message), 'upstream_error', reading),
    );
  }
}

function textOf(event: string, verdict: EventReader['verdict']): string {
  if (verdict === 'drop') return '';
  return typeof verdict === 'string' ? event : verdict.replacement;
}

function isAbove0(usage: Usage | undefined): boolean {
  return usage !== undefined && Object.values(usage).some((amount) => amount > 0);
}
