import type { Model } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import type { Usage } from '../../domain/units.ts';
import type { StreamMeter } from '../../metering/meter.ts';
import { failureMessage, OPENINGS } from '../../metering/sse/event.ts';
import { EventReader } from '../../metering/sse/event-reader.ts';
import type { HeldCall } from '../call.ts';
import { type HeldError, HeldOpening } from '../response/held-answer.ts';
import type { Recipient, Relay } from '../response/recipient.ts';
import { StreamRelay } from '../response/stream-relay.ts';
import type { TriedAttempt } from '../settle.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { unforwardableStatus } from '../upstream/failure.ts';
import { failureOfAnswer, failureOfConnection, wordsOf } from './failures.ts';
import { type FailureKind, type Route, type TargetSettings, Tries } from './tries.ts';

/** The call's answering side, as a hand-over needs it. */
export interface Answering extends Recipient {
  /** True from the head of an answer until the call is being settled. */
  readonly isRelaying: boolean;
  /** Sends the call, as it is now, with a new exchange. */
  sendAgain(): void;
  /** The sink for an answer that the client gets. */
  sinkFor(answer: UpstreamAnswer): AnswerSink;
  /** The relay that reads the answer. */
  set relay(relay: Relay);
  streamBegan(): void;
  /** Writes a sign of life of a stream whose answer has not begun. */
  ping(answer: UpstreamAnswer, event: string): void;
  /** Ends the call with a refusal, uncharged. */
  fail(refusal: GatewayError, outcome: Outcome): void;
}

/** An error that a provider gave: as its answer, or within a stream. */
type ProviderError =
  | { readonly call: HeldCall; readonly answer: UpstreamAnswer; readonly body: Buffer }
  | { readonly call: HeldCall; readonly message: string };

/**
 * Takes a call from one target to the next while nothing of an answer has been shown (specification section 12). If none is
 * left, the answer is the last error that a provider gave.
 */
export class Handover {
  readonly #answering: Answering;
  readonly #tries: Tries;
  #call: HeldCall;
  #lastError: ProviderError | undefined;

  constructor(answering: Answering, call: HeldCall, route: Route, settings: TargetSettings) {
    this.#answering = answering;
    this.#tries = new Tries(route, settings);
    this.#call = callAt(call, this.#tries.model);
  }

  /** The call as it goes to its current target. */
  get call(): HeldCall {
    return this.#call;
  }

  /** Each try so far. */
  get attempts(): readonly TriedAttempt[] {
    return this.#tries.all;
  }

  /** Longest wait for the head of an answer that is not streamed, which comes last; 0: no bound but that of the call. */
  wholeTimeoutMs(wholeMs: number): number {
    const { most, retriesUnsure } = this.#tries;
    return most > 1 && retriesUnsure ? Math.ceil(wholeMs / most) : 0;
  }

  /**
   * Longest wait for the head of the current try, of `wholeMs` for all of them, of which `elapsedMs` are over; undefined: as the
   * connections have it.
   */
  headTimeoutMs(wholeMs: number, elapsedMs: number): number | undefined {
    const { most, retriesUnsure, isFirst } = this.#tries;
    if (most > 1 && retriesUnsure) return Math.ceil(wholeMs / most);
    return isFirst ? undefined : Math.max(1, wholeMs - elapsedMs);
  }

  /** The head of an answer came. */
  head(status: number): void {
    this.#tries.head(status);
  }

  /** The target has answered as it should. */
  answered(): void {
    this.#tries.answered();
  }

  /** The call is over. */
  end(): void {
    this.#tries.abandoned();
  }

  /** An answer broke off that had begun. */
  broke(error: Error): void {
    this.#tries.broke(failureOfConnection(error, this.#call.body.model).error);
  }

  /** No answer came. True if the call goes on elsewhere, or has its answer. */
  noHead(error: Error, mayGoOn: boolean): boolean {
    const isUnsent = this.#answering.exchange.sentAt === undefined;
    this.#tries.failed(failureOfConnection(error, this.#call.body.model), this.#call);
    if (mayGoOn && this.#goOn(isUnsent ? 'unsent' : 'unsure')) return true;
    if (!isUnsent || !this.#lastError) return false;
    this.#failAs(this.#lastError);
    return true;
  }

  /** A provider refused the call: it goes on at the next target, or the refusal is the answer. */
  refused(answer: UpstreamAnswer, held: HeldError): void {
    if (!this.#answering.isRelaying) return;
    const { body } = held;
    const call = this.#call;
    this.#tries.failed(failureOfAnswer(answer, body, call.body.model.upstream), call);
    if (this.#goOn('answered')) this.#lastError = { call, answer, body };
    else this.#passRefusal(answer, held);
  }

  /** The answer cannot be passed on, and is no reason to ask another target. */
  unfit(status: number, refusal: GatewayError): void {
    this.#tries.failed({ status, error: `HTTP ${status}: ${refusal.message}` }, this.#call);
    this.#answering.fail(refusal, 'upstream_error');
  }

  /** What came in place of a stream whose head the client has: it cannot be shown but as an error. */
  answeredWithin(answer: UpstreamAnswer, held: HeldError): void {
    if (!this.#answering.isRelaying) return;
    const { error } = failureOfAnswer(answer, held.body, this.#call.body.model.upstream);
    this.#failAs({ call: this.#call, message: error });
  }

  /** The opening of a stream, held if the model has several targets; undefined: the stream is shown as it comes. */
  openingOf(answer: UpstreamAnswer): HeldOpening | undefined {
    const kindOf = this.#tries.isOfSeveral ? OPENINGS[this.#call.endpoint.path] : undefined;
    if (!kindOf || this.#answering.hasLeft) return undefined;
    return new HeldOpening({
      kindOf,
      mayHold: (bytes) => this.#call.memory.holdAnswer(bytes),
      ping: (event) => this.#answering.ping(answer, event),
      opened: () => {
        this.answered();
        this.#answering.streamBegan();
        return this.#readBy(new StreamRelay(this.#answering, answer));
      },
      failed: (event, events) => this.#openingFailed(event, events),
      broke: (error, events) => this.#openingBroke(error, answer, events),
    });
  }

  #readBy(relay: StreamRelay): StreamRelay {
    this.#answering.relay = relay;
    return relay;
  }

  #passRefusal(answer: UpstreamAnswer, held: Pick<HeldError, 'passTo'>): void {
    const unfit = unforwardableStatus(answer.statusCode);
    if (unfit) this.#answering.fail(unfit, 'upstream_error');
    else held.passTo(this.#answering.sinkFor(answer));
  }

  #openingFailed(event: string, events: Buffer): void {
    if (!this.#answering.isRelaying) return;
    const call = this.#call;
    const { endpoint, body } = call;
    const words = wordsOf(failureMessage(event) ?? '', body.model.upstream);
    const message = words || 'The model provider failed before it produced any output.';
    const usage = reportedIn(events, endpoint.meter.stream(this.#answering.injectedUsage, body));
    this.#tries.failed({ status: this.#tries.status, error: message }, call, usage);
    if (this.#goOn('answered')) this.#lastError = { call, message };
    else this.#failAs({ call, message });
  }

  #openingBroke(error: Error, answer: UpstreamAnswer, events: Buffer): void {
    if (!this.#answering.isRelaying) return;
    this.#tries.failed(failureOfConnection(error, this.#call.body.model), this.#call);
    if (this.#goOn('unsure')) return;
    const relay = this.#readBy(new StreamRelay(this.#answering, answer, null));
    if (events.length > 0) relay.data(events);
    relay.error(error);
  }

  /** Sends the call to its next target, if there is one after a failure of this kind. */
  #goOn(kind: FailureKind): boolean {
    if (this.#answering.hasLeft) return false;
    const model = this.#tries.next(kind, this.#call.endpoint.makesJob === true);
    if (!model) return false;
    this.#call = callAt(this.#call, model);
    this.#answering.sendAgain();
    return true;
  }

  #failAs(error: ProviderError): void {
    this.#call = error.call;
    if ('message' in error) {
      this.#answering.fail(new GatewayError('upstream_unavailable', error.message), 'upstream_error');
      return;
    }
    const { answer, body } = error;
    this.#passRefusal(answer, {
      passTo(sink) {
        sink.data(body);
        sink.end();
      },
    });
  }
}

/** The usage that the opening of a stream reports; undefined if it reports none. */
function reportedIn(events: Buffer, meter: StreamMeter): Usage | undefined {
  const reader = new EventReader(meter);
  reader.push(events);
  while (reader.next() !== undefined);
  const usage = meter.usage ?? meter.mergeReported?.({}) ?? {};
  const counted = Object.entries(usage).filter(([, amount]) => amount > 0);
  return counted.length > 0 ? Object.fromEntries(counted) : undefined;
}

/** The call as it goes to a target of its model. */
function callAt(call: HeldCall, model: Model): HeldCall {
  if (model === call.body.model) return call;
  const { body, upstreamBody } = call;
  const isSame = model.upstreamModel === body.model.upstreamModel;
  const bytes = isSame ? undefined : upstreamBody.named?.(model.upstreamModel);
  return {
    ...call,
    body: { ...body, model },
    upstreamBody: bytes ? { ...upstreamBody, bytes } : upstreamBody,
  };
}
