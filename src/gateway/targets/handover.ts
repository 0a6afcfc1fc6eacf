import type { Model } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Usage } from '../../domain/units.ts';
import type { HeldCall } from '../call.ts';
import type { HeldError } from '../response/held-error.ts';
import type { Recipient } from '../response/recipient.ts';
import type { TriedAttempt } from '../settle.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { unforwardableStatus } from '../upstream/failure.ts';
import type { StreamUsage } from '../upstream/stream-usage.ts';
import { failureOfAnswer, failureOfConnection } from './failures.ts';
import { type FailureKind, type Route, type TargetSettings, Tries } from './tries.ts';

/** The answering side of a call. */
export interface Answering extends Recipient {
  /** True from the head of an answer until the call settles. */
  readonly isRelaying: boolean;
  /** Sends the call in its current form with a new exchange. */
  sendAgain(): void;
  /** Returns the sink for a refusal by the provider to the client. */
  refusalSink(answer: UpstreamAnswer): AnswerSink;
}

/** A provider's error: its answer, or an event in a stream. */
type ProviderError =
  | { readonly call: HeldCall; readonly answer: UpstreamAnswer; readonly body: Buffer }
  | { readonly call: HeldCall; readonly message: string };

/**
 * Failover: moves a call from one target to the next while the client has seen nothing of an answer (specification
 * section 12).
 * After the last one, the client gets the last provider error.
 */
export class Handover {
  readonly #answering: Answering;
  readonly #tries: Tries;
  #call: HeldCall;
  readonly #streamUsage: StreamUsage;
  /** Whether the current attempt is without `stream_options` because its target refused the one with them. */
  #isRepeat = false;
  #lastError: ProviderError | undefined;

  constructor(answering: Answering, call: HeldCall, route: Route, settings: TargetSettings) {
    this.#answering = answering;
    this.#tries = new Tries(route, settings, call.compiled.key.accountId);
    this.#streamUsage = settings.streamUsage;
    this.#call = this.#callAt(call, this.#tries.model);
  }

  /** The call as sent to its current target. */
  get call(): HeldCall {
    return this.#call;
  }

  /** Each try so far. */
  get attempts(): readonly TriedAttempt[] {
    return this.#tries.all;
  }

  /** Maximum wait for the head of an unstreamed answer, which comes last; 0: only the call's own bound. */
  wholeTimeoutMs(wholeMs: number): number {
    const { most, retriesUnsure } = this.#tries;
    return most > 1 && retriesUnsure ? Math.ceil(wholeMs / most) : 0;
  }

  /**
   * Maximum wait for the head of the current attempt, out of `wholeMs` for all attempts, of which `elapsedMs` have
   * passed; undefined: the connections' default.
   */
  headTimeoutMs(wholeMs: number, elapsedMs: number): number | undefined {
    const { most, retriesUnsure, isFirst } = this.#tries;
    if (most > 1 && retriesUnsure) return Math.ceil(wholeMs / most);
    return isFirst ? undefined : Math.max(1, wholeMs - elapsedMs);
  }

  /** The head of an answer arrived. */
  head(status: number): void {
    this.#tries.head(status);
    // Proven only now: a refusal may quote the words of the request.
    if (this.#isRepeat && status < 300) this.#streamUsage.refused(this.#call.body.model.upstream);
  }

  /** Whether an answer with this status may be for `stream_options` that the client did not send. */
  mayRefuseOptions(status: number): boolean {
    return (status === 400 || status === 422) && this.#call.upstreamBody.addedOptions;
  }

  /** Such an answer came. If it names them, the call is sent once more without. */
  refusedOptions(answer: UpstreamAnswer, held: HeldError): void {
    if (!this.#answering.isRelaying) return;
    if (this.#answering.hasLeft || !held.body.includes('stream_options')) {
      this.answered();
      held.passTo(this.#answering.refusalSink(answer));
      return;
    }
    this.#tries.again();
    this.#isRepeat = true;
    this.#call = callAt(this.#call, this.#call.body.model, false);
    this.#answering.sendAgain();
  }

  /** The client gets the target's answer. */
  answered(): void {
    this.#tries.answered();
  }

  /** An answer broke off. */
  broke(error: Error): void {
    this.#tries.broke(failureOfConnection(error, this.#call.body.model).error);
  }

  /** No answer came. Returns true if the call continues elsewhere or has its answer. */
  noHead(error: Error, mayGoOn: boolean): boolean {
    const isUnsent = this.#answering.exchange.sentAt === undefined;
    this.#tries.failed(failureOfConnection(error, this.#call.body.model), this.#call);
    if (mayGoOn && this.#goOn(isUnsent ? 'unsent' : 'unsure')) return true;
    if (!isUnsent || !this.#lastError) return false;
    this.#failAs(this.#lastError);
    return true;
  }

  /** A provider refused the call: try the next target, or answer with the refusal. */
  refused(answer: UpstreamAnswer, held: HeldError): void {
    if (!this.#answering.isRelaying) return;
    const { body } = held;
    const call = this.#call;
    this.#tries.failed(failureOfAnswer(answer, body, call.body.model.upstream), call);
    if (this.#goOn('answered')) this.#lastError = { call, answer, body };
    else this.#passRefusal(answer, held);
  }

  /** The answer can't be forwarded and does not justify another target. */
  unfit(status: number, refusal: GatewayError): void {
    this.#tries.failed({ status, cause: 'error', error: `HTTP ${status}: ${refusal.message}` }, this.#call);
    this.#answering.fail(refusal, 'upstream_error');
  }

  /** Something else came instead of a stream whose head the client has: show it as an error. */
  answeredWithin(answer: UpstreamAnswer, held: HeldError): void {
    if (!this.#answering.isRelaying) return;
    const { error } = failureOfAnswer(answer, held.body, this.#call.body.model.upstream);
    this.#failAs({ call: this.#call, message: error });
  }

  /** Whether the model has several targets that this call may use. */
  get isOfSeveral(): boolean {
    return this.#tries.isOfSeveral;
  }

  /** An answer failed before any of it was shown. Returns true if the call continues elsewhere. */
  failedUnshown(message: string, usage?: Usage): boolean {
    const call = this.#call;
    this.#tries.failed({ status: this.#tries.status, cause: 'error', error: message }, call, usage);
    if (!this.#answering.isRelaying || !this.#goOn('answered')) return false;
    this.#lastError = { call, message };
    return true;
  }

  /** An answer broke off before any of it was shown. Returns true if the call continues elsewhere. */
  brokeUnshown(error: Error): boolean {
    if (!this.#answering.isRelaying) return false;
    this.#tries.failed(failureOfConnection(error, this.#call.body.model), this.#call);
    return this.#goOn('unsure');
  }

  #passRefusal(answer: UpstreamAnswer, held: Pick<HeldError, 'passTo'>): void {
    const unfit = unforwardableStatus(answer.statusCode);
    if (unfit) this.#answering.fail(unfit, 'upstream_error');
    else held.passTo(this.#answering.refusalSink(answer));
  }

  /** Sends the call to its next target, if this kind of failure allows one. */
  #goOn(kind: FailureKind): boolean {
    if (this.#answering.hasLeft) return false;
    const model = this.#tries.next(kind, this.#call.endpoint.makesJob === true);
    if (!model) return false;
    this.#isRepeat = false;
    this.#call = this.#callAt(this.#call, model);
    this.#answering.sendAgain();
    return true;
  }

  #callAt(call: HeldCall, model: Model): HeldCall {
    return callAt(call, model, this.#streamUsage.asks(model.upstream));
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

/** The call in the form for a target of its model, which is asked for usage or not. */
function callAt(call: HeldCall, model: Model, asks: boolean): HeldCall {
  const { body, upstreamBody } = call;
  if (model === body.model && (asks || !upstreamBody.injectedUsage)) return call;
  const form = upstreamBody.formOf?.(model.upstreamModel, asks);
  return {
    ...call,
    body: { ...body, model },
    upstreamBody: form ? { ...upstreamBody, ...form } : upstreamBody,
  };
}
