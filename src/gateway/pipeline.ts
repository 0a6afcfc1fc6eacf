import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasBuckets } from '../domain/call-limits.ts';
import type { Catalog } from '../domain/catalog.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ByteSource } from '../metering/byte-source.ts';
import { refuseUnpriced } from '../metering/request/charges.ts';
import type { Bounds } from '../metering/request/token-cost.ts';
import { type AdmitParts, admit } from './admit.ts';
import type { EnteredCall, HeldCall, ReadCall } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import { forward } from './forward.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import { hasLimitHeaders, setLimitHeaders, tellsLimits } from './limits/limit-headers.ts';
import type { CallQueue } from './queue/call-queue.ts';
import { refusalFrom } from './refuse.ts';
import { heavyStep } from './request/json/heavy-step.ts';
import { rereadingMeter, retainScalars } from './request/json/json-in-pieces.ts';
import type { JsonBody } from './request/json-body.ts';
import { readBody, sourceInPieces } from './request/read-body.ts';
import { closeWithReply } from './request/spool/receive-body.ts';
import { Spool, type SpoolFolder } from './request/spool/spool.ts';
import type { WeightedSemaphore } from './request/weighted-semaphore.ts';
import type { JobRouteParts } from './resources/job-request.ts';
import { referencedIds } from './resources/referenced-ids.ts';
import type { ResourceOwnership } from './resources/resource-ownership.ts';
import type { ResponseContext } from './response/response-lifecycle.ts';
import { type Ending, settleCall } from './settle.ts';
import { upstreamBody } from './upstream/body.ts';
import type { UpstreamTransport } from './upstream/transport.ts';

export interface PipelineParts {
  readonly gatekeeper: Gatekeeper;
  readonly ledger: Ledger;
  readonly catalog: () => Catalog;
  readonly ownership: ResourceOwnership;
  readonly refunds: JobRouteParts['refunds'];
  readonly transport: UpstreamTransport;
  readonly response: ResponseContext;
  readonly queue: CallQueue<HeldCall>;
  readonly bounds: Bounds;
  /** Treatment of requests that ask for something without a price: refused, or let through at the plain price. */
  readonly unpriced: 'refuse' | 'pass';
  readonly bodyLimitBytes: number;
  /** The folder of large bodies while their calls last. */
  readonly spools: SpoolFolder;
}

/**
 * The request path of one endpoint: specification section 3 from top to bottom. Each step may throw a GatewayError,
 * which is then the answer; nothing has reached the upstream.
 *
 *  1 who calls, and may they from here and now   checks 1 to 8: before the body is read, so strangers cost no memory
 *  2 what do they ask for                        check 9: one parse, one scan, no copy (forms: form-body.ts); nothing unpriced
 *  3 what may it cost                            the hold, an upper bound, and the estimate
 *  4 may the key, can the account                checks 10 to 12: one Redis round trip
 *  5 forward, relay, settle                      specification sections 4 and 5
 *
 * The steps are plain async functions. The promises of steps that have nothing to wait for cost 0.9 µs a call, of some
 * 170 µs (Node 24.21): too little to write each step a second time without them.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #endpoint: Endpoint;
  readonly #semaphore: WeightedSemaphore;
  readonly #admitParts: AdmitParts;

  /** `semaphore`: the memory for reading large bodies, shared by all endpoints. */
  constructor(parts: PipelineParts, endpoint: Endpoint, semaphore: WeightedSemaphore) {
    this.#parts = parts;
    this.#endpoint = endpoint;
    this.#semaphore = semaphore;
    this.#admitParts = { ...parts, metrics: parts.response.metrics };
  }

  /** Step 1, before the body is received; afterwards `request.call` is there. */
  async enter(request: FastifyRequest): Promise<void> {
    const startedAt = performance.now();
    const { gatekeeper } = this.#parts;
    const cached = gatekeeper.authoriseCached(request);
    request.call = {
      requestId: request.id,
      endpoint: this.#endpoint,
      startedAt,
      compiled: cached ?? (await gatekeeper.authorise(request)),
      recordIsCurrent: cached === undefined,
    };
  }

  /**
   * Steps 2 to 5 for a call that has entered. Resolves when it is on its way upstream; its ResponseLifecycle answers
   * and settles.
   */
  async run(request: FastifyRequest, reply: FastifyReply, entered: EnteredCall): Promise<void> {
    const { ledger, gatekeeper, response } = this.#parts;
    let read: ReadCall;
    try {
      read = await this.#read(request, reply, entered);
    } catch (refusal) {
      // Checks 1 to 8 come first, by the current record: a key that was just deleted is refused as that.
      if (!entered.recordIsCurrent) await gatekeeper.authorise(request);
      throw refusal;
    }
    const held = await admit(request, reply, read, this.#admitParts);
    if (!held) {
      // The client left while its call waited for room in its limits: there is nobody to answer.
      response.metrics.refused(this.#endpoint.path, 'client_left');
      reply.hijack();
      return;
    }
    try {
      forward(request, reply, held, response);
    } catch (error) {
      // Whatever failed here, the hold does not stay behind.
      if (!request.lifecycle) settleCall(ledger, held, NOT_FORWARDED, () => {});
      throw error;
    }
  }

  /**
   * Counts a call that is refused, and adds the headers about limits where its admission has not. A ResponseLifecycle
   * counts its own refusals.
   */
  async refused(request: FastifyRequest, reply: FastifyReply, error: Error): Promise<void> {
    const { headers, call, lifecycle } = request;
    if (lifecycle) return;
    const { metrics, tracing } = this.#parts.response;
    const { path } = this.#endpoint;
    const refusal = refusalFrom(error);
    metrics.refused(path, refusal.code);
    tracing?.refused(headers, path, refusal, call);
    if (tellsLimits(refusal.statusCode))
      await this.#tellLimits(reply, this.#parts.gatekeeper.cached(request));
  }

  async #tellLimits(reply: FastifyReply, compiled: CompiledKey | undefined): Promise<void> {
    const limits = compiled?.limits;
    if (!limits || !(hasBuckets(limits.key) || hasBuckets(limits.account))) return;
    const { key } = compiled;
    const { format } = this.#endpoint;
    if (hasLimitHeaders(reply, format)) return;
    try {
      setLimitHeaders(reply, format, await this.#parts.ledger.limitStates(key.accountId, key.id));
    } catch {
      // The refusal is answered without the headers.
    }
  }

  /**
   * Steps 2 and 3. A large body stays in its file and is read in pieces, once there is memory for it; afterwards only
   * what later steps need of it stays in memory.
   */
  async #read(request: FastifyRequest, reply: FastifyReply, entered: EnteredCall): Promise<ReadCall> {
    const source = sourceInPieces(request, this.#endpoint);
    if (!source) return await this.#readWhole(request, entered, undefined);
    if (source instanceof Spool) closeWithReply(source, request, reply);
    const release = await this.#semaphore.acquire(source.size);
    try {
      const read = await this.#readWhole(request, entered, source);
      if (read.body.kind !== 'json') return read;
      const meter = rereadingMeter(this.#endpoint, source, this.#semaphore);
      return {
        ...read,
        body: retainScalars(read.body as JsonBody),
        endpoint: { ...this.#endpoint, meter },
      };
    } finally {
      release();
    }
  }

  /** Steps 2 and 3. `source`: the body where it is read in pieces; undefined: it is `request.body`. */
  async #readWhole(
    request: FastifyRequest,
    entered: EnteredCall,
    source: ByteSource | undefined,
  ): Promise<ReadCall> {
    const { catalog, ownership, bounds, unpriced } = this.#parts;
    const { meter, asksForUsage } = this.#endpoint;
    const body = await readBody(request, source, catalog(), this.#endpoint);
    // Each of the walks below takes some 10 ms through a body of very many parts.
    const step = (body as JsonBody).elided?.isHeavy ? heavyStep : atOnce;
    const { sent, asked } = await step(() => ({
      sent: upstreamBody(body, asksForUsage),
      asked: meter.ask(body),
    }));
    // What goes upstream is in `sent`; the upload as it came need not stay beside it.
    request.body = undefined;
    const named = await step(() => referencedIds(body.value));
    const storedTokens = named.size > 0 ? await ownership.tokensBehind(named, body, entered.compiled.key) : 0;
    if (unpriced === 'refuse') refuseUnpriced(asked, body.model);
    const spool = source instanceof Spool ? source : undefined;
    return {
      ...entered,
      body,
      upstreamBody: sent,
      spool,
      storedTokens,
      ...asked.cost({ ...bounds, storedTokens }),
      serviceTiers: asked.serviceTiers,
    };
  }
}

/** How a call ends whose forwarding failed before it began: nothing is charged. */
const NOT_FORWARDED: Ending = {
  status: 500,
  outcome: 'upstream_unreachable',
  usage: undefined,
  estimated: false,
};

function atOnce<T>(work: () => T): T {
  return work();
}
