import type { FastifyReply, FastifyRequest } from 'fastify';
import { creditsString, type Micro } from '../../domain/credits.ts';
import type { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import type { Usage } from '../../domain/units.ts';
import type { Form } from '../../metering/answer.ts';
import type { HeldCall } from '../call.ts';
import type { CallTrace, EndCode } from '../observers.ts';
import { failureEvent, refusalText, refuse } from '../refuse.ts';
import { seenEnd, settleCall } from '../settle.ts';
import { isHandedOver } from '../targets/failures.ts';
import { type Answering, Handover } from '../targets/handover.ts';
import type { Route } from '../targets/tries.ts';
import { ErrorFilter, unmeasured } from '../upstream/credential.ts';
import { codingsOf, decode, decodedHead, type Source } from '../upstream/decode.ts';
import { type AnswerSink, Exchange, type UpstreamAnswer } from '../upstream/exchange.ts';
import {
  failureOf,
  isTimeout,
  RequestTimeout,
  undecodable,
  unforwardableStatus,
} from '../upstream/failure.ts';
import { clientHeaders, sourceOf } from '../upstream/headers.ts';
import { AnswerStart, formDecider, isSound } from './answer-start.ts';
import { BytesRelay } from './bytes-relay.ts';
import type { CacheShares } from './cache-shares.ts';
import { HeldError } from './held-error.ts';
import { JsonRelay } from './json-relay.ts';
import { PartWriter } from './part-writer.ts';
import type { CallError } from './provider-error.ts';
import type { Reading, Relay } from './recipient.ts';
import type { ResponseContext } from './response-context.ts';
import { StreamRelay } from './stream-relay.ts';
import { settleBy, unanswered } from './unreported.ts';

/** Cancel reason: the call moved to another target. */
const HANDED_OVER = new Error('the call moved to another target');

/** Has a proxy in front, such as nginx, pass each event at once. */
const UNBUFFERED = { 'x-accel-buffering': 'no' } as const;

/** One error for all calls, because every call's connection closes at some time, mostly long after its answer. */
const CLIENT_LEFT = new Error('the client left');

/**
 * The answer to one admitted call, from sending the call to its settle. States: waiting (for the upstream's head) →
 * relaying → settling → ended. Until the client has seen output, a failed target returns the call to `waiting`, for the
 * next one (specification section 12). `waiting` and `relaying` also lead to `settling` when the upstream breaks off or
 * the deadline passes. If the client leaves, the state stays: the answer is read for its usage (`hasLeft`) until that is
 * reported, `limits.readOnMs` pass, or the upstream breaks off. `settling` is entered once, so a call is settled once,
 * whatever happens at the same time.
 */
export class ResponseLifecycle implements Answering {
  readonly trace: CallTrace | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #context: ResponseContext;
  readonly #timer: NodeJS.Timeout;
  readonly #openPlace: number;
  readonly #handover: Handover;
  readonly #send: () => void;
  #exchange: Exchange;
  #readOnTimer: NodeJS.Timeout | undefined;
  readonly #sentAt = performance.now();
  #state: 'waiting' | 'relaying' | 'settling' | 'ended' = 'waiting';
  #relay: Relay | undefined;
  #isStream = false;
  #headAt: number | undefined;
  #error: CallError | undefined;
  /** True if the head of the answer is a provider's error, which costs nothing. */
  #isRefused = false;
  #hasLeft = false;
  /** True if the client's connection, or its answer, closed while the call was being settled. */
  #isClosed = false;
  /** The writer of a stream whose head the client has. */
  #parts: PartWriter | undefined;
  /** True once the client has got more of a stream than signs of life. */
  #isShown = false;

  /** `send` sends the call as it is; it is called for each try but the first. */
  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    call: HeldCall,
    context: ResponseContext,
    { route, send }: { readonly route: Route; readonly send: () => void },
  ) {
    this.#handover = new Handover(this, call, route, context.targets);
    this.#send = send;
    this.#request = request;
    this.#reply = reply;
    this.#context = context;
    this.#exchange = this.#newExchange();
    this.#timer = setTimeout(() => this.timeIsUp(), context.requestTimeoutMs);
    this.#openPlace = context.openCalls.began(this);
    context.metrics.began();
    this.trace = context.tracing?.began(request.headers, this.call, this.#sentAt);
  }

  get call(): HeldCall {
    return this.#handover.call;
  }

  get injectedUsage(): boolean {
    return this.call.upstreamBody.injectedUsage;
  }

  get exchange(): Exchange {
    return this.#exchange;
  }

  get raw(): FastifyReply['raw'] {
    return this.#reply.raw;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get hiddenTokensPerSecond(): number {
    return this.#context.hiddenTokensPerSecond;
  }

  get cacheShares(): CacheShares {
    return this.#context.cacheShares;
  }

  get isRelaying(): boolean {
    return this.#state === 'relaying';
  }

  /** Takes the head of the upstream's answer and chooses the relay for its body. */
  head(encoded: UpstreamAnswer): void {
    if (this.#state !== 'waiting') return;
    const { statusCode } = encoded;
    this.#headAt = performance.now();
    this.trace?.head(statusCode);
    this.#handover.head(statusCode);
    this.#isRefused = statusCode >= 300;
    const isFailure = isHandedOver(statusCode);
    const codings = codingsOf(encoded);
    const isReadable = codings !== undefined || this.#isRefused;
    const unfit =
      (isFailure ? undefined : unforwardableStatus(statusCode)) ?? (isReadable ? undefined : undecodable());
    if (unfit) {
      this.#handover.unfit(statusCode, unfit);
      return;
    }
    this.#state = 'relaying';
    // It waits no longer for the first bytes than for the others.
    let refused = codings ? decodedHead(encoded) : encoded;
    const held = isFailure
      ? new HeldError((error) => this.#handover.refused(refused, error))
      : this.#handover.mayRefuseOptions(statusCode)
        ? new HeldError((error) => this.#handover.refusedOptions(refused, error))
        : undefined;
    decode(encoded, {
      codings,
      isBinary: !this.#isRefused && isSound(encoded, this.call),
      raw: this.raw,
      open: (answer, source) => {
        refused = answer;
        if (held) return held;
        if (!this.#isRefused) return this.#startOf(answer, source);
        this.begins();
        return this.refusalSink(answer);
      },
    });
  }

  /** Until its first bytes have come, an answer is of no form. */
  #startOf(answer: UpstreamAnswer, source: Source): AnswerStart {
    const start = new AnswerStart({
      formOf: formDecider(answer, this.call),
      blank: isSound(answer, this.call) ? undefined : (text) => this.ping(answer, text),
      relayFor: (form) => this.#relayFor(answer, form),
      pipe: (relay) => source.pipe(relay),
    });
    this.#relay = start;
    return start;
  }

  #relayFor(answer: UpstreamAnswer, form: Form): Relay & AnswerSink {
    if (form === 'stream' && !this.#isStream) {
      this.#isStream = true;
      this.#context.metrics.streamBegan();
    }
    const isBytes = form === 'bytes' && this.call.endpoint.answersBytes;
    const relay =
      form === 'stream'
        ? new StreamRelay(this, answer)
        : isBytes
          ? new BytesRelay(this, answer)
          : new JsonRelay(this, answer, form);
    this.#relay = relay;
    return relay;
  }

  refusalSink(answer: UpstreamAnswer): AnswerSink {
    if (this.#parts && this.call.body.isStream)
      return new HeldError((held) => this.#handover.answeredWithin(answer, held));
    const relay = this.#relayFor(unmeasured(answer), 'json');
    return new ErrorFilter(relay, this.call.body.model.upstream);
  }

  get isOfSeveral(): boolean {
    return this.#handover.isOfSeveral && !this.#hasLeft;
  }

  begins(): void {
    this.#handover.answered();
  }

  failedUnshown(message: string, usage?: Usage): boolean {
    return this.#handover.failedUnshown(message, usage);
  }

  brokeUnshown(error: Error): boolean {
    return this.#handover.brokeUnshown(error);
  }

  sendAgain(): void {
    const last = this.#exchange;
    this.#state = 'waiting';
    this.#relay = undefined;
    this.#isRefused = false;
    this.#headAt = undefined;
    this.#exchange = this.#newExchange();
    last.cancel(HANDED_OVER);
    this.#send();
  }

  #newExchange(): Exchange {
    const { headersTimeoutMs, requestTimeoutMs } = this.#context;
    const { body, memory } = this.call;
    const exchange = new Exchange({
      // A client that reads is not broken off if something else, such as a decoder, asks for a pause.
      paused: () => {
        if (this.raw.socket?.writableNeedDrain && !memory.unread()) this.raw.destroy();
      },
      resumed: () => memory.read(),
    });
    // A whole answer begins when the model has finished, which may be as late as the call may last.
    exchange.headersTimeoutMs = body.isStream
      ? this.#handover.headTimeoutMs(headersTimeoutMs, performance.now() - this.#sentAt)
      : this.#handover.wholeTimeoutMs(requestTimeoutMs);
    return exchange;
  }

  /** Ends the try without an answer: the connection was refused, reset or timed out. */
  noHead(error: Error): void {
    if (this.#state !== 'waiting') return;
    if (this.#handover.noHead(error, !(error instanceof RequestTimeout))) return;
    const reading = isTimeout(error) ? this.#unreported() : undefined;
    this.fail(...failureOf(error, reading !== undefined), reading);
  }

  clientHeaders(
    answer: UpstreamAnswer,
    own: Readonly<Record<string, string | number>> = {},
    isBytes = false,
  ): string[] {
    this.#context.metrics.firstByte(performance.now() - this.call.startedAt);
    const { statusCode, headers } = answer;
    const all = statusCode < 400 ? own : { ...own, ...sourceOf(statusCode) };
    const { upstream } = this.call.body.model;
    return clientHeaders(headers, upstream, { reply: this.#reply.getHeaders(), own: all, isBytes });
  }

  firstToken(): void {
    this.#context.metrics.firstToken(performance.now() - this.call.startedAt);
    this.trace?.firstToken();
  }

  hijack(): void {
    this.#reply.hijack();
  }

  openStream(answer: UpstreamAnswer): PartWriter {
    this.#isShown = true;
    return this.#open(answer);
  }

  /** The head is that of any answer, as the answer may be another target's. */
  ping({ statusCode, headers, body }: UpstreamAnswer, event: string): void {
    if (this.#hasLeft) return;
    this.#open({ statusCode, headers: { 'content-type': headers['content-type'] }, body }).write(event);
  }

  #open(answer: UpstreamAnswer): PartWriter {
    if (this.#parts) return this.#parts;
    this.hijack();
    this.raw.writeHead(answer.statusCode, this.clientHeaders(answer, UNBUFFERED));
    this.raw.flushHeaders();
    this.#parts = new PartWriter(this.raw, () => this.exchange.resume());
    return this.#parts;
  }

  complete(
    status: number,
    reading: Reading | undefined,
    finish: (charge: string) => void,
    error?: CallError,
  ): void {
    this.#error = error;
    const outcome = !reading || reading.failed ? 'upstream_error' : 'complete';
    this.#settle(status, outcome, reading, (charge) => finish(creditsString(charge)));
  }

  broken(error: Error, status: number, reading: Reading | undefined): void {
    // Cancelling after the client has left leads here too; that call is settled already.
    if (this.#state === 'settling' || this.#state === 'ended') return;
    this.#handover.broke(error);
    const isLate = isTimeout(error);
    const charged = isLate ? this.#unreported() : reading;
    const outcome = isLate ? 'timeout' : 'upstream_broke';
    if (!this.#hasLeft && !(this.#parts ? this.#isShown : this.raw.headersSent)) {
      this.fail(failureOf(error, charged !== undefined)[0], outcome, charged);
      return;
    }
    this.#settle(status, outcome, charged, () => this.raw.destroy());
  }

  /** Answers the client with a refusal; without a `reading` nothing is charged. */
  fail(refusal: GatewayError, outcome: Outcome, reading?: Reading): void {
    const parts = this.#parts;
    const answer = () => {
      if (this.#hasLeft) return;
      const { body, endpoint } = this.call;
      if (parts) parts.end((body.isStream ? failureEvent : refusalText)(refusal, endpoint.path));
      else refuse(refusal, this.#request, this.#reply);
    };
    this.#error = refusal;
    this.#settle(parts ? 200 : refusal.statusCode, outcome, reading, answer, refusal.code);
    this.exchange.cancel(refusal);
  }

  /**
   * The reading of a call that the gateway gives up: all that the provider may have billed. Undefined if nothing was
   * sent, or the provider refused.
   */
  #unreported(): Reading | undefined {
    if (this.exchange.sentAt === undefined || this.#isRefused) return undefined;
    return this.#relay?.reading() ?? unanswered(this);
  }

  /** To be called when the client's connection, or the answer, has closed. The upstream may still be sending, even after the answer's end. */
  clientLeft(): void {
    if (this.#state === 'settling' || this.#state === 'ended') {
      this.exchange.cancel(CLIENT_LEFT);
      this.#isClosed = true;
      if (this.#state === 'ended') this.call.memory.free();
      return;
    }
    if (!this.#reply.sent) this.#reply.hijack();
    this.#hasLeft = true;
    const { readOnMs } = this.#context.openCalls;
    if (this.exchange.sentAt === undefined || readOnMs === 0) {
      this.#giveUp();
      return;
    }
    // reply-from drops an answer whose client has left.
    if (this.#state === 'waiting')
      this.exchange.answered = (error, answer) => (answer ? this.head(answer) : this.noHead(error as Error));
    this.#readOnTimer = setTimeout(() => this.#giveUp(), readOnMs);
    // The client's back-pressure may have paused the exchange.
    this.exchange.resume();
  }

  /** The call may not last longer, or the gateway stops: nothing more is waited for. */
  timeIsUp(): void {
    this.exchange.cancel(new RequestTimeout());
  }

  /** Settles the call of a client that has left by what is known now, and stops reading its answer. */
  #giveUp(): void {
    // Settle first: cancelling causes an error that would be taken for the upstream's.
    this.#settle(499, 'client_left', this.#unreported(), () => {});
    this.exchange.cancel(CLIENT_LEFT);
  }

  #settle(
    answered: number,
    ended: Outcome,
    reading: Reading | undefined,
    after: (charge: Micro) => void,
    answeredCode: EndCode = ended === 'complete' ? 'ok' : ended,
  ): void {
    if (this.#state === 'settling' || this.#state === 'ended') return;
    this.#state = 'settling';
    // How the answer ended makes no difference to a client that is gone.
    const outcome = this.#hasLeft ? 'client_left' : ended;
    const status = this.#hasLeft ? 499 : answered;
    const code = this.#hasLeft ? 'client_left' : answeredCode;
    const upstreamMs = performance.now() - this.#sentAt;
    const { attempts } = this.#handover;
    const error = this.#hasLeft ? undefined : this.#error;
    const agent = this.#request.headers['user-agent'];
    const { keyPrefix } = this.#context;
    const end = seenEnd(this.call, { error, headAt: this.#headAt, agent, keyPrefix });
    clearTimeout(this.#timer);
    clearTimeout(this.#readOnTimer);
    const settle = (usage: Usage | undefined, estimated: boolean) => {
      const { ledger, metrics, openCalls, recorder } = this.#context;
      const { resourceIds, terms } = reading ?? {};
      const ending = { status, outcome, usage, estimated, resourceIds, terms, attempts, ...end };
      const charge = settleCall(ledger, this.call, ending, () => {
        this.#state = 'ended';
        openCalls.settled(this.#openPlace);
        after(charge);
        if (this.#hasLeft || this.#isClosed) this.call.memory.free();
        const addedMs = performance.now() - this.call.startedAt - upstreamMs;
        metrics.ended(this.call.endpoint.path, code, upstreamMs, addedMs, charge);
        metrics.settled(this.#isStream);
        this.trace?.ended(ending, code, charge, upstreamMs);
        recorder.ended(this.call, ending);
      });
      if (usage && !estimated) this.cacheShares.note(this.call, usage);
      // The request body is no longer needed: nothing more is sent or estimated from it.
      this.call.memory.closeBody();
    };
    settleBy(reading, settle, this.#request.log);
  }
}
