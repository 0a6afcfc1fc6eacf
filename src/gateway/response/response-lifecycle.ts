import type { FastifyReply, FastifyRequest } from 'fastify';
import { creditsString, type Micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import type { Usage } from '../../domain/usage.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { CountTokens } from '../../metering/tokens/token-counter.ts';
import type { HeldCall } from '../call.ts';
import type { CallMetrics, EndCode } from '../call-metrics.ts';
import type { CallQueue } from '../queue/call-queue.ts';
import { refuse } from '../refuse.ts';
import { settleCall } from '../settle.ts';
import type { CallTrace, Tracing } from '../tracing.ts';
import { Exchange, type UpstreamAnswer } from '../upstream/exchange.ts';
import { failureOf, isTimeout, RequestTimeout, unfitStatus } from '../upstream/failure.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { BytesRelay } from './bytes-relay.ts';
import { DecodingSink, decodedHead, decoderOf } from './decode.ts';
import { JsonRelay } from './json-relay.ts';
import type { Reading, Recipient } from './recipient.ts';
import { StreamRelay } from './stream-relay.ts';

export interface ResponseContext {
  readonly ledger: Ledger;
  readonly countTokens: CountTokens;
  readonly requestTimeoutMs: number;
  readonly metrics: CallMetrics;
  /** The queue of calls that wait for room in limits; it is told of each call that ends, which may make room. */
  readonly queue: Pick<CallQueue<HeldCall>, 'ended'>;
  /** Undefined where nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** One error for all calls, because every call's connection closes at some time, mostly long after its answer. */
const CLIENT_LEFT = new Error('the client left');
/**
 * Milliseconds for which the gateway reads on for the usage after the client has left: first where the last content
 * seems to have come, then where it has not.
 */
const READ_ON_CLOSING_MS = 2_000;
const READ_ON_MS = 250;

/**
 * The answer to one admitted call, from sending the call upstream to its settle. States: waiting (for the upstream's
 * head) → relaying → settling → ended. `waiting` and `relaying` also lead straight to `settling` when the client
 * leaves, the upstream breaks off or the time is up. If only the usage is missing when the client leaves, the gateway
 * reads on for a moment, still `relaying`. `settling` is entered once, so a call is settled once, whatever happens at
 * the same time.
 */
export class ResponseLifecycle implements Recipient {
  readonly call: HeldCall;
  readonly exchange = new Exchange();
  readonly injectedUsage: boolean;
  readonly trace: CallTrace | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #context: ResponseContext;
  readonly #timer: NodeJS.Timeout;
  #readOnTimer: NodeJS.Timeout | undefined;
  readonly #sentAt = performance.now();
  #state: 'waiting' | 'relaying' | 'settling' | 'ended' = 'waiting';
  #relay: BytesRelay | JsonRelay | StreamRelay | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, call: HeldCall, context: ResponseContext) {
    this.call = call;
    this.injectedUsage = call.upstreamBody.injectedUsage;
    this.#request = request;
    this.#reply = reply;
    this.#context = context;
    this.#timer = setTimeout(() => this.exchange.cancel(new RequestTimeout()), context.requestTimeoutMs);
    reply.raw.once('close', () => this.clientLeft());
    context.metrics.began();
    this.trace = context.tracing?.began(request.headers, this.call, this.#sentAt);
  }

  get raw(): FastifyReply['raw'] {
    return this.#reply.raw;
  }

  get countTokens(): CountTokens {
    return this.#context.countTokens;
  }

  /** Takes the head of the upstream's answer and chooses the relay for its body. */
  head(encoded: UpstreamAnswer): void {
    if (this.#state !== 'waiting') return;
    const { statusCode } = encoded;
    this.trace?.head(statusCode);
    const unfit = unfitStatus(statusCode);
    if (unfit) {
      this.#fail(unfit, 'upstream_error');
      return;
    }
    const decoder = decoderOf(encoded);
    if (!decoder && statusCode < 300) {
      this.#fail(
        new GatewayError(
          'upstream_unavailable',
          'The model provider answered in an encoding that was not asked for and cannot be read.',
        ),
        'upstream_error',
      );
      return;
    }
    this.#state = 'relaying';
    const isEncoded = typeof decoder === 'object';
    const answer = isEncoded ? decodedHead(encoded) : encoded;
    const type = statusCode < 300 ? String(answer.headers['content-type']) : '';
    if (/^text\/event-stream/i.test(type) || this.#isUnnamedStream(answer, statusCode)) {
      this.#context.metrics.streamBegan();
      this.#relay = new StreamRelay(this, answer);
    }
    // JSON in place of bytes may be an error, so it is read.
    else if (statusCode < 300 && this.call.endpoint.answersBytes && !/\bjson\b/i.test(type))
      this.#relay = new BytesRelay(this, answer);
    else this.#relay = new JsonRelay(this, answer);
    answer.body.pipe(isEncoded ? new DecodingSink(decoder, this.#relay, this) : this.#relay);
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

  /** Ends the call without an answer: the connection was refused, reset or timed out, or the client left. */
  noHead(error: Error): void {
    if (this.#state !== 'waiting') return;
    this.#fail(...failureOf(error));
  }

  /** Headers of the client's answer: the upstream's without those that must not pass, then the gateway's own. */
  clientHeaders(answer: UpstreamAnswer, own: Readonly<Record<string, string | number>> = {}): string[] {
    this.#context.metrics.firstByte(performance.now() - this.call.startedAt);
    return clientHeaders(answer.headers, this.#reply.getHeaders(), own);
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

  /** Settles an answer that broke off. If the client has seen part of it, its connection is broken off too. */
  broken(error: Error, status: number, reading: Reading | undefined): void {
    // Cancelling after the client has left leads here too; that call is settled already.
    if (this.#state === 'settling' || this.#state === 'ended') return;
    const outcome = isTimeout(error) ? 'timeout' : 'upstream_broke';
    if (!reading && !this.raw.headersSent) {
      this.#fail(failureOf(error)[0], outcome);
      return;
    }
    this.#settle(status, outcome, reading, () => this.raw.destroy());
  }

  #fail(refusal: GatewayError, outcome: Outcome): void {
    const answer = () => refuse(refusal, this.#request, this.#reply);
    this.#settle(refusal.statusCode, outcome, undefined, answer, refusal.code);
    this.exchange.cancel(refusal);
  }

  /** Called when the client's connection has closed. The upstream may still be sending, even after the answer's end. */
  clientLeft(): void {
    if (this.#state === 'settling' || this.#state === 'ended') {
      this.exchange.cancel(CLIENT_LEFT);
      return;
    }
    if (!this.#reply.sent) this.#reply.hijack();
    const relay = this.#relay;
    const behind = relay && 'left' in relay ? relay.left() : undefined;
    if (!behind) {
      this.settleLeft(relay?.reading());
      return;
    }
    const waitMs = behind.isClosing ? READ_ON_CLOSING_MS : READ_ON_MS;
    this.#readOnTimer = setTimeout(() => this.settleLeft(behind.reading), waitMs);
    // The client's back-pressure may have paused the exchange.
    this.exchange.resume();
  }

  /** Settles the call of a client that has left, once its usage has come or will not come. Stops reading the answer. */
  settleLeft(reading: Reading | undefined): void {
    // Settling comes first: the error that cancelling causes would otherwise be taken for the upstream's.
    this.#settle(499, 'client_left', reading, () => {});
    this.exchange.cancel(CLIENT_LEFT);
  }

  #settle(
    status: number,
    outcome: Outcome,
    reading: Reading | undefined,
    after: (charge: Micro) => void,
    code: EndCode = outcome === 'complete' ? 'ok' : outcome,
  ): void {
    if (this.#state === 'settling' || this.#state === 'ended') return;
    this.#state = 'settling';
    const upstreamMs = performance.now() - this.#sentAt;
    clearTimeout(this.#timer);
    clearTimeout(this.#readOnTimer);
    const settle = (usage: Usage | undefined, estimated: boolean) => {
      const { ledger, metrics } = this.#context;
      const { resourceIds, serviceTiers } = reading ?? {};
      const ending = { status, outcome, usage, estimated, resourceIds, serviceTiers };
      const charge = settleCall(ledger, this.call, ending, () => {
        this.#state = 'ended';
        after(charge);
        const { compiled, startedAt, waitedMs } = this.call;
        if (compiled.limits) this.#context.queue.ended(compiled.key.accountId, compiled.key.id);
        const addedMs = performance.now() - startedAt - waitedMs - upstreamMs;
        metrics.ended(this.call.endpoint.path, code, upstreamMs, addedMs, charge);
        metrics.settled(this.#relay instanceof StreamRelay);
        this.trace?.ended(ending, code, charge, upstreamMs);
      });
      // The request body is no longer needed: nothing more is sent or estimated from it.
      void this.call.spool?.close();
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
