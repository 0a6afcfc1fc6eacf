import type { FastifyReply, FastifyRequest } from 'fastify';
import { creditsString, type Micro } from '../../domain/credits.ts';
import type { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import type { Usage } from '../../domain/units.ts';
import type { AdmittedCall } from '../call.ts';
import type { CallTrace, EndCode } from '../observers.ts';
import { failureEvent, refusalText, refuse } from '../refuse.ts';
import { billOfCall, seenEnd, settleCall } from '../settle.ts';
import { failureOfConnection } from '../targets/failures.ts';
import type { AttemptFailure, OpenAttempt } from '../targets/open-attempt.ts';
import type { UpstreamAnswer } from '../upstream/exchange.ts';
import { failureOf, isTimeout, RequestTimeout } from '../upstream/failure.ts';
import { clientHeaders, sourceOf } from '../upstream/headers.ts';
import { PartWriter } from './part-writer.ts';
import type { CallError } from './provider-error.ts';
import type { Reading, Relay } from './reading.ts';
import type { ResponseContext } from './response-context.ts';
import { settleBy, unanswered } from './unreported.ts';

/** Has a proxy in front, such as nginx, pass each event at once. */
const UNBUFFERED = { 'x-accel-buffering': 'no' } as const;

/** One error for all calls, because every call's connection closes at some time, mostly long after its answer. */
const CLIENT_LEFT = new Error('the client left');

/**
 * The client's side of one admitted call, from sending the call to its settle. States: open → settling → ended. If the
 * client leaves an open call, its answer is read on for its usage (`hasLeft`) until that is reported,
 * `limits.readOnMs` pass, or the upstream breaks off. `settling` is entered once, so a call is settled once, whatever
 * happens at the same time.
 */
export class ClientResponse {
  readonly call: AdmittedCall;
  readonly context: ResponseContext;
  readonly raw: FastifyReply['raw'];
  readonly trace: CallTrace | undefined;
  /** Start of the first attempt, by `performance.now()`. */
  readonly sentAt = performance.now();
  /** The attempt whose answer the client gets, unless it fails. */
  attempt: OpenAttempt | undefined;
  /** Reads the answer of that attempt, from its first bytes on. */
  relay: Relay | undefined;
  /** The client has left: the answer is read for its usage, and nothing is written. */
  hasLeft = false;
  /** The call may not last longer. */
  isTimeUp = false;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #timer: NodeJS.Timeout;
  readonly #openPlace: number;
  #readOnTimer: NodeJS.Timeout | undefined;
  #state: 'open' | 'settling' | 'ended' = 'open';
  #isStream = false;
  #error: CallError | undefined;
  /** True if the client's connection, or its answer, closed while the call was being settled. */
  #isClosed = false;
  /** The writer of a stream whose head the client has. */
  #parts: PartWriter | undefined;
  /** True once the client has got more of a stream than signs of life. */
  #isShown = false;

  constructor(request: FastifyRequest, reply: FastifyReply, call: AdmittedCall, context: ResponseContext) {
    this.#request = request;
    this.#reply = reply;
    this.call = call;
    this.context = context;
    this.raw = reply.raw;
    this.#timer = setTimeout(() => this.timeIsUp(), context.requestTimeoutMs);
    this.#openPlace = context.openCalls.began(this);
    context.metrics.began();
    this.trace = context.tracing?.began(request.headers, call, this.sentAt);
  }

  /** Whether the call is being settled, or is. */
  get isOver(): boolean {
    return this.#state !== 'open';
  }

  /** Whether the client has the head of a stream, which may be that of an attempt before. */
  get hasHead(): boolean {
    return this.#parts !== undefined;
  }

  /** Whether the model has several targets, so that a call whose answer fails before it begins may move to another. */
  get mayMove(): boolean {
    return this.call.quote.targets !== undefined && !this.hasLeft;
  }

  /** The answer begins to be shown, or is complete: no other target is tried from here on. */
  begins(): void {
    this.attempt?.answered();
  }

  /** Has the upstream send more. */
  resume(): void {
    this.attempt?.exchange.resume();
  }

  /** Ends the exchange with the upstream. */
  cancel(reason: Error): void {
    this.attempt?.exchange.cancel(reason);
  }

  /** The answer is a stream. */
  streamBegan(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.context.metrics.streamBegan();
  }

  /** Headers for the client: those of the upstream that may pass, then the gateway's own. */
  clientHeaders(
    answer: UpstreamAnswer,
    own: Readonly<Record<string, string | number>> = {},
    isBytes = false,
  ): string[] {
    this.context.metrics.firstByte(performance.now() - this.call.startedAt);
    const { statusCode, headers } = answer;
    const all = statusCode < 400 ? own : { ...own, ...sourceOf(statusCode) };
    const { upstream } = this.call.facts.model;
    return clientHeaders(headers, upstream, { reply: this.#reply.getHeaders(), own: all, isBytes });
  }

  /** Records that the first event of a stream has arrived. */
  firstToken(): void {
    this.context.metrics.firstToken(performance.now() - this.call.startedAt);
    this.trace?.firstToken();
  }

  /** Detaches the reply from Fastify: the relay writes to the socket itself. */
  hijack(): void {
    this.#reply.hijack();
  }

  /** Writes the head of a stream, and returns the writer of its parts. The head is written once. */
  openStream(answer: UpstreamAnswer): PartWriter {
    this.#isShown = true;
    return this.#open(answer);
  }

  /** Writes a keep-alive before the answer has begun. The head is that of any answer, as that may be another target's. */
  ping({ statusCode, headers, body }: UpstreamAnswer, event: string): void {
    if (this.hasLeft) return;
    this.#open({ statusCode, headers: { 'content-type': headers['content-type'] }, body }).write(event);
  }

  #open(answer: UpstreamAnswer): PartWriter {
    if (this.#parts) return this.#parts;
    this.hijack();
    this.raw.writeHead(answer.statusCode, this.clientHeaders(answer, UNBUFFERED));
    this.raw.flushHeaders();
    this.#parts = new PartWriter(this.raw, () => this.resume());
    return this.#parts;
  }

  /**
   * Settles an answer that ended regularly. Without a `reading` nothing is charged. `finish` is called with the charge
   * in credits once the settle is on the wire to Redis, and writes the rest of the answer. `error`: the error in the
   * answer.
   */
  complete(
    status: number,
    reading: Reading | undefined,
    finish: (charge: string) => void,
    error?: CallError,
  ): void {
    this.begins();
    this.#error = error;
    const outcome = !reading || reading.failed ? 'upstream_error' : 'complete';
    this.#settle(status, outcome, reading, (charge) => finish(creditsString(charge)));
  }

  /**
   * Settles an answer that broke off. No `reading`: before its first byte. If the client has seen part of it, its
   * connection is cut too.
   */
  broken(error: Error, status: number, reading: Reading | undefined): void {
    // Cancelling after the client has left leads here too; that call is settled already.
    if (this.isOver) return;
    this.attempt?.broke(failureOfConnection(error, this.call.facts.model).error);
    const isLate = isTimeout(error);
    const charged = isLate ? this.#unreported() : reading;
    const outcome = isLate ? 'timeout' : 'upstream_broke';
    if (!this.hasLeft && !(this.#parts ? this.#isShown : this.raw.headersSent)) {
      this.fail(failureOf(error, charged !== undefined)[0], outcome, charged);
      return;
    }
    this.#settle(status, outcome, charged, () => this.raw.destroy());
  }

  /** An answer that broke off before the client saw any of it: the next target's turn, or `broken`. */
  brokenUnshown(error: Error, status: number, reading: () => Reading | undefined): void {
    this.attempt?.failed({
      kind: 'uncertain',
      failure: failureOfConnection(error, this.call.facts.model),
      show: () => this.broken(error, status, reading()),
    });
  }

  /**
   * An answer of 2xx that failed before the client saw any of it: the next target's turn, or `show`. `usage`: as
   * reported.
   */
  failedUnshown(message: string, usage: Usage | undefined, show: () => void): void {
    const { attempt, call } = this;
    const cost = usage && billOfCall(call, usage).cost;
    const failure = { status: attempt?.status ?? null, cause: 'error', error: message } as const;
    attempt?.failed({ kind: 'answered', failure, usage, cost, show });
  }

  /** The failure of an attempt that got no answer. */
  noAnswer(error: Error, { exchange }: OpenAttempt): AttemptFailure {
    return {
      kind: exchange.sentAt === undefined ? 'unsent' : 'uncertain',
      failure: failureOfConnection(error, this.call.facts.model),
      show: () => {
        const reading = isTimeout(error) ? this.#unreported() : undefined;
        this.fail(...failureOf(error, reading !== undefined), reading);
      },
    };
  }

  /** Answers the client with a refusal; without a `reading` nothing is charged. */
  fail(refusal: GatewayError, outcome: Outcome, reading?: Reading): void {
    const parts = this.#parts;
    const answer = () => {
      if (this.hasLeft) return;
      const { facts, endpoint } = this.call;
      if (parts) parts.end((facts.isStream ? failureEvent : refusalText)(refusal, endpoint.path));
      else refuse(refusal, this.#request, this.#reply);
    };
    this.#error = refusal;
    this.#settle(parts ? 200 : refusal.statusCode, outcome, reading, answer, refusal.code);
    this.cancel(refusal);
  }

  /**
   * The reading of a call that the gateway gives up: all that the provider may have billed. Undefined if nothing was
   * sent, or the provider refused.
   */
  #unreported(): Reading | undefined {
    const { attempt } = this;
    if (attempt?.exchange.sentAt === undefined || attempt.isRefused) return undefined;
    return this.relay?.reading() ?? unanswered(this);
  }

  /**
   * Called when the client's connection, or the answer, has closed. The upstream may still be sending, even after the
   * answer's end.
   */
  clientLeft(): void {
    if (this.isOver) {
      this.cancel(CLIENT_LEFT);
      this.#isClosed = true;
      if (this.#state === 'ended') this.call.memory.free();
      return;
    }
    if (!this.#reply.sent) this.#reply.hijack();
    this.hasLeft = true;
    const { readOnMs } = this.context.openCalls;
    if (this.attempt?.exchange.sentAt === undefined || readOnMs === 0) {
      this.#giveUp();
      return;
    }
    this.#readOnTimer = setTimeout(() => this.#giveUp(), readOnMs);
    // The client's back-pressure may have paused the exchange.
    this.resume();
  }

  /** The call may not last longer, or the gateway stops: nothing more is waited for. */
  timeIsUp(): void {
    this.isTimeUp = true;
    this.cancel(new RequestTimeout());
  }

  /** Settles the call of a client that has left by what is known now, and stops reading its answer. */
  #giveUp(): void {
    // Settle first: cancelling causes an error that would be taken for the upstream's.
    this.#settle(499, 'client_left', this.#unreported(), () => {});
    this.cancel(CLIENT_LEFT);
  }

  #settle(
    answered: number,
    ended: Outcome,
    reading: Reading | undefined,
    after: (charge: Micro) => void,
    answeredCode: EndCode = ended === 'complete' ? 'ok' : ended,
  ): void {
    if (this.isOver) return;
    this.#state = 'settling';
    // How the answer ended makes no difference to a client that is gone.
    const outcome = this.hasLeft ? 'client_left' : ended;
    const status = this.hasLeft ? 499 : answered;
    const code = this.hasLeft ? 'client_left' : answeredCode;
    const upstreamMs = performance.now() - this.sentAt;
    const { call, context } = this;
    const error = this.hasLeft ? undefined : this.#error;
    const agent = this.#request.headers['user-agent'];
    const end = seenEnd(call, {
      error,
      headAt: this.attempt?.headAt,
      agent,
      keyPrefix: context.keyPrefix,
    });
    clearTimeout(this.#timer);
    clearTimeout(this.#readOnTimer);
    const settle = (usage: Usage | undefined, estimated: boolean) => {
      const { ledger, metrics, openCalls, recorder } = context;
      const { resourceIds, terms } = reading ?? {};
      const ending = { status, outcome, usage, estimated, resourceIds, terms, ...end };
      const charge = settleCall(ledger, call, ending, () => {
        this.#state = 'ended';
        openCalls.settled(this.#openPlace);
        after(charge);
        if (this.hasLeft || this.#isClosed) call.memory.free();
        const addedMs = performance.now() - call.startedAt - upstreamMs;
        metrics.ended(call.endpoint.path, code, upstreamMs, addedMs, charge);
        metrics.settled(this.#isStream);
        this.trace?.ended(ending, code, charge, upstreamMs);
        recorder.ended(call, ending);
      });
      if (usage && !estimated) context.cacheShares.note(call, usage);
      // The request body is no longer needed: nothing more is sent or estimated from it.
      call.memory.closeBody();
    };
    settleBy(reading, settle, this.#request.log);
  }
}
