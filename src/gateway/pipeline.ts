import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import { micro } from '../domain/credits.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ByteSource } from '../metering/byte-source.ts';
import type { Bounds } from '../metering/meter.ts';
import { admit } from './admit.ts';
import type { Call } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import { forward } from './forward.ts';
import type { Gatekeeper, Judged } from './gatekeeper.ts';
import { refusalFrom } from './refuse.ts';
import type { CallBody } from './request/call-body.ts';
import { heavyStep } from './request/json/heavy-step.ts';
import { rereadingMeter, retainScalars } from './request/json/json-in-pieces.ts';
import type { JsonBody } from './request/json-body.ts';
import { readBody, sourceInPieces } from './request/read-body.ts';
import { closeWithReply } from './request/spool/receive-body.ts';
import { Spool, type SpoolFolder } from './request/spool/spool.ts';
import type { WeightedSemaphore } from './request/weighted-semaphore.ts';
import type { JobRouteParts } from './resources/job-request.ts';
import { namedIds } from './resources/named-ids.ts';
import type { Objects } from './resources/resource-ownership.ts';
import type { DeliveryContext } from './response/delivery.ts';
import { settleCall } from './settle.ts';
import { upstreamBody } from './upstream/body.ts';
import type { UpstreamTransport } from './upstream/transport.ts';

export interface PipelineParts {
  readonly gatekeeper: Gatekeeper;
  readonly ledger: Ledger;
  readonly catalog: () => Catalog;
  readonly objects: Objects;
  readonly refunds: JobRouteParts['refunds'];
  readonly transport: UpstreamTransport;
  readonly delivery: DeliveryContext;
  readonly bounds: Bounds;
  readonly bodyLimitBytes: number;
  /** Where large bodies are kept while their calls last. */
  readonly spools: SpoolFolder;
}

/**
 * The request path: contract section 3 from top to bottom. Each step may throw a GatewayError, which is the answer;
 * nothing has then reached the upstream.
 *
 *  1 who calls, and may they from here and now   checks 1–8: before the body is read, so strangers cost no memory
 *  2 what do they ask for                        check 9: one parse, one scan, no copy (forms: read-body.ts)
 *  3 what may it cost                            the hold, an upper bound
 *  4 may the key, can the account                checks 10–12: one Redis round trip
 *  5 forward, relay, settle                      sections 4 and 5
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #endpoint: Endpoint;
  readonly #semaphore: WeightedSemaphore;

  /** `semaphore`: of JUDGED_AT_ONCE_BYTES, shared by all endpoints. */
  constructor(parts: PipelineParts, endpoint: Endpoint, semaphore: WeightedSemaphore) {
    this.#parts = parts;
    this.#endpoint = endpoint;
    this.#semaphore = semaphore;
  }

  /** Checks 1 to 8. Calls back within the tick where the key's record is at hand, as it is for nearly every call. */
  enter(request: FastifyRequest, done: (error?: Error) => void): void {
    const startedAt = performance.now();
    const entered = ({ compiled, current }: Judged) => {
      request.call = this.#newCall(request, startedAt, compiled, current);
      done();
    };
    let judged: Judged | Promise<Judged>;
    try {
      judged = this.#parts.gatekeeper.judge(request);
    } catch (refusal) {
      done(refusal as Error);
      return;
    }
    if (judged instanceof Promise) judged.then(entered, done);
    else entered(judged);
  }

  /** Checks 9 to 12, and the hold. Of the promises on the way of nearly every call, Redis' answer is the only one. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { ledger, gatekeeper } = this.#parts;
    const { call } = request;
    if (!call) return Promise.reject(new Error('a call that did not enter'));
    let reading: undefined | Promise<void>;
    try {
      const source = sourceInPieces(request, this.#endpoint);
      reading = source
        ? this.#readInPieces(request, reply, call, source)
        : this.#read(request, call, undefined);
    } catch (refusal) {
      return this.#refused(request, call, refusal);
    }
    const admitRead = () => admit(request, ledger, gatekeeper);
    if (!reading) return admitRead();
    return reading.catch((refusal: unknown) => this.#refused(request, call, refusal)).then(admitRead);
  }

  forward(request: FastifyRequest, reply: FastifyReply, failed: (error: Error) => void): void {
    try {
      forward(request, reply, this.#parts.delivery);
    } catch (error) {
      failed(error as Error);
    }
  }

  /** A refusal is counted; and whatever fails between the hold and the forwarding, the hold does not stay behind. */
  failed(request: FastifyRequest, error: Error): void {
    const { call, delivery } = request;
    const { ledger, delivery: context } = this.#parts;
    if (delivery) return;
    const { path } = this.#endpoint;
    const refusal = refusalFrom(error);
    context.meters.refused(path, refusal.code);
    context.tracing?.refused(request.headers, path, refusal, call);
    if (call?.epoch === undefined) return;
    const ending = {
      status: 500,
      outcome: 'upstream_unreachable',
      usage: undefined,
      estimated: false,
    } as const;
    settleCall(ledger, call, ending, () => {});
  }

  #newCall(
    request: FastifyRequest,
    startedAt: number,
    compiled: CompiledKey,
    recordIsCurrent: boolean,
  ): Call {
    return {
      requestId: request.id,
      endpoint: this.#endpoint,
      startedAt,
      compiled,
      recordIsCurrent,
      body: undefined,
      spool: undefined,
      upstreamBody: undefined,
      hold: micro(0),
      storedTokens: 0,
      epoch: undefined,
    };
  }

  /** Check 9, and the bound of what the call can cost; within the tick where nothing is to be waited for. */
  #read(request: FastifyRequest, call: Call, source: ByteSource | undefined): undefined | Promise<void> {
    const body = readBody(request, source, this.#parts.catalog(), this.#endpoint);
    return body instanceof Promise
      ? body.then((read) => this.#bound(request, call, read))
      : this.#bound(request, call, body);
  }

  #bound(request: FastifyRequest, call: Call, body: CallBody): undefined | Promise<void> {
    if ((body as JsonBody).elided?.isHeavy) return this.#boundInSteps(request, call, body);
    this.#accept(request, call, body);
    const named = namedIds(body.value);
    if (named.size === 0) return this.#hold(call, body, 0);
    return this.#parts.objects
      .tokensBehind(named, body, call.compiled.key)
      .then((storedTokens) => this.#hold(call, body, storedTokens));
  }

  /** The same for a body in which each of these walks takes long. */
  async #boundInSteps(request: FastifyRequest, call: Call, body: CallBody): Promise<void> {
    await heavyStep(() => this.#accept(request, call, body));
    const named = await heavyStep(() => namedIds(body.value));
    const storedTokens = named.size
      ? await this.#parts.objects.tokensBehind(named, body, call.compiled.key)
      : 0;
    await heavyStep(() => this.#hold(call, body, storedTokens));
  }

  #accept(request: FastifyRequest, call: Call, body: CallBody): void {
    const { meter, asksForUsage } = this.#endpoint;
    call.body = body;
    // What goes upstream stands in the call; the upload as it came need not stay beside it.
    request.body = undefined;
    call.upstreamBody = upstreamBody(body, asksForUsage);
    meter.check?.(body);
  }

  #hold(call: Call, body: CallBody, storedTokens: number): undefined {
    call.storedTokens = storedTokens;
    call.hold = this.#endpoint.meter.hold(body, { ...this.#parts.bounds, storedTokens });
  }

  /** The same for a body that is judged in pieces, of which nothing large is kept beside its bytes. */
  async #readInPieces(
    request: FastifyRequest,
    reply: FastifyReply,
    call: Call,
    source: ByteSource,
  ): Promise<void> {
    if (source instanceof Spool) {
      call.spool = source;
      closeWithReply(source, request, reply);
    }
    const release = await this.#semaphore.acquire(source.size);
    try {
      await this.#read(request, call, source);
      if (call.body?.kind !== 'json') return;
      call.body = retainScalars(call.body as JsonBody);
      call.endpoint = {
        ...this.#endpoint,
        meter: rereadingMeter(this.#endpoint, source, this.#semaphore),
      };
    } finally {
      release();
    }
  }

  /** Checks 1 to 8 come first, by the record as it is now: a key that was just deleted is refused as that. */
  async #refused(request: FastifyRequest, call: Call, refusal: unknown): Promise<never> {
    if (!call.recordIsCurrent) await this.#parts.gatekeeper.authorise(request);
    throw refusal;
  }
}
