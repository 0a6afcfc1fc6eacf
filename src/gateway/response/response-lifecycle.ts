import type { FastifyReply, FastifyRequest } from 'fastify';
import { creditsString, type Micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import type { Usage } from '../../domain/units.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { CountTokens } from '../../metering/tokens/token-counter.ts';
import type { LoopTurns } from '../../shares/loop-turns.ts';
import type { HeldCall } from '../call.ts';
import type { CallMetrics, EndCode } from '../call-metrics.ts';
import type { CallQueue } from '../queue/call-queue.ts';
import { refuse } from '../refuse.ts';
import { settleCall } from '../settle.ts';
import type { CallTrace, Tracing } from '../tracing.ts';
import { CredentialFilter, hasCredential, unmeasured } from '../upstream/credential.ts';
import { DecodingSink, decodedHead, decoderOf } from '../upstream/decode.ts';
import { type AnswerSink, Exchange, type UpstreamAnswer } from '../upstream/exchange.ts';
import { failureOf, isTimeout, RequestTimeout, unforwardableStatus } from '../upstream/failure.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { BytesRelay } from './bytes-relay.ts';
import type { CacheShares } from './cache-shares.ts';
import { JsonRelay } from './json-relay.ts';
import type { LeftCalls } from './left-calls.ts';
import type { Reading, Recipient, Relay } from './recipient.ts';
import { StreamRelay } from './stream-relay.ts';
import { unanswered } from './unreported.ts';

export interface ResponseContext {
  readonly ledger: Ledger;
  readonly countTokens: CountTokens;
  readonly requestTimeoutMs: number;
  readonly hiddenTokensPerSecond: number;
  readonly leftCalls: LeftCalls;
  readonly cacheShares: CacheShares;
  readonly turns: LoopTurns;
  readonly metrics: CallMetrics;
  /** The queue of calls that wait for room in limits; it is told of each call that ends, which may make room. */
  readonly queue: Pick<CallQueue<HeldCall>, 'ended'>;
  /** Undefined where nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** One error for all calls, because every call's connection closes at some time, mostly long after its answer. */
const CLIENT_LEFT = new Error('the client left');

/**
 * The answer to one admitted call, from sending the call upstream to its settle. States: waiting (for the upstream's
 * head) → relaying → settling → ended. `waiting` and `relaying` also lead straight to `settling` when the upstream
 * breaks off or the time is up. When the client leaves, the state stays as it is: the answer is read on for its report
 * (`hasLeft`), which the call is charged by, until it has come, `limits.readOnMs` are over, or the upstream breaks off.
 * `settling` is entered once, so a call is settled once, whatever happens at the same time.
 */
export class ResponseLifecycle implements Recipient {
  readonly call: HeldCall;
  readonly exchange: Exchange;
  readonly injectedUsage: boolean;
  readonly trace: CallTrace | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #context: ResponseContext;
  readonly #timer: NodeJS.Timeout;
  #readOnTimer: NodeJS.Timeout | undefined;
  readonly #sentAt = performance.now();
  #state: 'waiting' | 'relaying' | 'settling' | 'ended' = 'waiting';
  #relay: Relay | undefined;
  #isStream = false;
  /** True where the head of the answer is a provider's error, which costs nothing. */
  #isRefused = false;
  #hasLeft = false;
  /** True where the client's connection, or its answer, closed while the call was being settled. */
  #isClosed = false;

  constructor(request: FastifyRequest, reply: FastifyReply, call: HeldCall, context: ResponseContext) {
    this.call = call;
    this.injectedUsage = call.upstreamBody.injectedUsage;
    this.#request = request;
    this.#reply = reply;
    this.#context = context;
    const { accountId } = call.compiled.key;
    this.exchange = new Exchange((work) => context.turns.run(accountId, work), {
      // A client that reads is not broken off where something else, such as a decoder, asks for a pause.
      paused: () => {
        if (this.raw.socket?.writableNeedDrain && !call.memory.unread()) this.raw.destroy();
      },
      resumed: () => call.memory.read(),
    });
    // A whole answer begins when the model has finished, which may be as late as the call may last.
    if (!call.body.isStream) this.exchange.headersTimeoutMs = 0;
    this.#timer = setTimeout(() => this.exchange.cancel(new RequestTimeout()), context.requestTimeoutMs);
    context.metrics.began();
    this.trace = context.tracing?.began(request.headers, this.call, this.#sentAt);
  }

  get raw(): FastifyReply['raw'] {
    return this.#reply.raw;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get countTokens(): CountTokens {
    return this.#context.countTokens;
  }

  get hiddenTokensPerSecond(): number {
    return this.#context.hiddenTokensPerSecond;
  }

  get cacheShares(): CacheShares {
    return this.#context.cacheShares;
  }

  /** Takes the head of the upstream's answer and chooses the relay for its body. */
  head(encoded: UpstreamAnswer): void {
    if (this.#state !== 'waiting') return;
    const { statusCode } = encoded;
    this.trace?.head(statusCode);
    this.#isRefused = statusCode >= 300;
    const unfit = unforwardableStatus(statusCode);
    if (unfit) {
      this.#fail(unfit, 'upstream_error');
      return;
    }
    const decoder = decoderOf(encoded);
    if (!decoder && statusCode < 300) {
      this.#fail(
        new GatewayError(
          'upstream_unavailable',
          "The model provider used a content encoding that the gateway did not request and can't decode.",
        ),
        'upstream_error',
      );
      return;
    }
    this.#state = 'relaying';
    const isEncoded = typeof decoder === 'object';
    const { upstream } = this.call.body.model;
    const mayQuote = statusCode >= 400 && hasCredential(upstream);
    const read = isEncoded ? decodedHead(encoded) : encoded;
    const answer = mayQuote ? unmeasured(read) : read;
    const type = statusCode < 300 ? String(answer.headers['content-type']) : '';
    if (/^text\/event-stream/i.test(type) || this.#isUnnamedStream(answer, statusCode)) {
      this.#context.metrics.streamBegan();
      this.#isStream = true;
    }
    const relay = this.#relayFor(answer, type);
    this.#relay = relay;
    const sink = mayQuote ? new CredentialFilter(relay, upstream) : relay;
    answer.body.pipe(isEncoded ? new DecodingSink(decoder, sink, this) : sink);
  }

  #relayFor(answer: UpstreamAnswer, type: string): Relay & AnswerSink {
    if (this.#isStream) return new StreamRelay(this, answer);
    // JSON in place of bytes may be an error, so it is read.
    const isBytes = !this.#isRefused && this.call.endpoint.answersBytes && !/\bjson\b/i.test(type);
    return isBytes ? new BytesRelay(this, answer) : new JsonRelay(this, answer);
  }

  /**
   * True where the answer is a stream although its Content-Type does not say so: some providers send none, or
   * text/plain. Relayed as a plain answer, it would be held back to its end.
   */
  #isUnnamedStream({ headers }: UpstreamAnswer, status: number): boolean {
    const { body } = this.call;
    if (status >= 300 || !body.isStream || body.kind !== 'json') return false;
    const type = headers['content-type'];
    return type === undefined || /^text\/plain\b/i.test(String(type));
  }

  /** Ends the call without an answer: the connection was refused, reset or timed out. */
  noHead(error: Error): void {
    if (this.#state !== 'waiting') return;
    const reading = isTimeout(error) ? this.#unreported() : undefined;
    this.#fail(...failureOf(error, reading !== undefined), reading);
  }

  /** Headers of the client's answer: the upstream's without those that must not pass, then the gateway's own. */
  clientHeaders(answer: UpstreamAnswer, own: Readonly<Record<string, string | number>> = {}): string[] {
    this.#context.metrics.firstByte(performance.now() - this.call.startedAt);
    return clientHeaders(answer.headers, this.call.body.model.upstream, this.#reply.getHeaders(), own);
  }

  /** Records that the first event of a stream has arrived. */
  firstToken(): void {
    this.#context.metrics.firstToken(performance.now() - this.call.startedAt);
    this.trace?.firstToken();
  }

  /** Takes the reply out of Fastify's hands: from here on the relay writes to the socket itself. */
  hijack(): void {
    this.#reply.hijack();
  }

  /**
   * Settles an answer that has ended regularly; without a `reading` nothing is charged. `finish` is called once the
   * settle is on the wire to Redis; it gets the charge in credits and writes the rest of the answer.
   */
  complete(status: number, reading: Reading | undefined, finish: (charge: string) => void): void {
    const isError = status >= 400;
    const isFailure = isError || !reading || reading.failed === true;
    const outcome = isFailure ? 'upstream_error' : 'complete';
    this.#settle(status, outcome, isError ? undefined : reading, (charge) => finish(creditsString(charge)));
  }

  broken(error: Error, status: number, reading: Reading | undefined): void {
    // Cancelling after the client has left leads here too; that call is settled already.
    if (this.#state === 'settling' || this.#state === 'ended') return;
    const isLate = isTimeout(error);
    const charged = isLate ? this.#unreported() : reading;
    const outcome = isLate ? 'timeout' : 'upstream_broke';
    if (!this.raw.headersSent && !this.#hasLeft) {
      this.#fail(failureOf(error, charged !== undefined)[0], outcome, charged);
      return;
    }
    this.#settle(status, outcome, charged, () => this.raw.destroy());
  }

  /** Answers the client with a refusal; without a `reading` nothing is charged. */
  #fail(refusal: GatewayError, outcome: Outcome, reading?: Reading): void {
    const answer = () => {
      if (!this.#hasLeft) refuse(refusal, this.#request, this.#reply);
    };
    this.#settle(refusal.statusCode, outcome, reading, answer, refusal.code);
    this.exchange.cancel(refusal);
  }

  /**
   * The reading of a call that the gateway gives up: all that the provider may have billed. Undefined where nothing was sent,
   * or the provider refused.
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
    const { leftCalls } = this.#context;
    if (this.exchange.sentAt === undefined || leftCalls.readOnMs === 0) {
      this.giveUp();
      return;
    }
    // reply-from drops an answer whose client has left.
    if (this.#state === 'waiting')
      this.exchange.answered = (error, answer) => (answer ? this.head(answer) : this.noHead(error as Error));
    leftCalls.add(this);
    this.#readOnTimer = setTimeout(() => this.giveUp(), leftCalls.readOnMs);
    // The client's back-pressure may have paused the exchange.
    this.exchange.resume();
  }

  /** Settles the call of a client that has left by what is known now, and stops reading its answer. */
  giveUp(): void {
    // Settling comes first: the error that cancelling causes would otherwise be taken for the upstream's.
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
    clearTimeout(this.#timer);
    clearTimeout(this.#readOnTimer);
    const settle = (usage: Usage | undefined, estimated: boolean) => {
      const { ledger, metrics, leftCalls } = this.#context;
      const { resourceIds, terms } = reading ?? {};
      const ending = { status, outcome, usage, estimated, resourceIds, terms };
      const charge = settleCall(ledger, this.call, ending, () => {
        this.#state = 'ended';
        leftCalls.delete(this);
        after(charge);
        if (this.#hasLeft || this.#isClosed) this.call.memory.free();
        const { compiled, startedAt, waitedMs } = this.call;
        if (compiled.limits) this.#context.queue.ended(compiled.key.accountId, compiled.key.id);
        const addedMs = performance.now() - startedAt - waitedMs - upstreamMs;
        metrics.ended(this.call.endpoint.path, code, upstreamMs, addedMs, charge);
        metrics.settled(this.#isStream);
        this.trace?.ended(ending, code, charge, upstreamMs);
      });
      if (usage && !estimated) this.cacheShares.note(this.call, usage);
      // The request body is no longer needed: nothing more is sent or estimated from it.
      this.call.memory.closeBody();
    };
    if (!reading || reading.free) settle(undefined, false);
    else if (!reading.usage || !isSettled(() => settle(reading.usage, reading.isEstimated === true))) {
      reading
        .estimate()
        .then((usage) => settle(usage, true))
        .catch((error: unknown) => {
          this.#request.log.error(
            { err: error },
            'usage could not be estimated; the price per request is charged',
          );
          settle({}, true);
        });
    }
  }
}

/**
 * True where the reported usage could be settled; false where its charge exceeds what any account can hold, so that the
 * report is ignored.
 */
function isSettled(settle: () => void): boolean {
  try {
    settle();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
