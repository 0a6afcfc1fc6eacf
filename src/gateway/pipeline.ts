import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasBuckets } from '../domain/call-limits.ts';
import type { CompiledKey } from '../domain/rules.ts';
import { type Ledger, LedgerUnavailable } from '../ledger/ledger.ts';
import { type AdmitParts, admit } from './admit.ts';
import { Attempts } from './attempts.ts';
import { type AdmittedCall, Call } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import { hasLimitHeaders, reportsLimits, setLimitHeaders } from './limits.ts';
import { type PlanParts, quoteOf } from './plan.ts';
import { type ReadParts, readRequest } from './read.ts';
import { refusalFrom } from './refuse.ts';
import { CallMemory } from './request/call-memory.ts';
import type { UnknownMembers } from './request/members.ts';
import type { SpoolFolder } from './request/spool/spool.ts';
import type { JobRouteParts } from './resources/job-request.ts';
import { ClientResponse } from './response/client-response.ts';
import type { ResponseContext } from './response/response-context.ts';
import { type Ending, settleCall } from './settle.ts';
import type { UpstreamTransport } from './upstream/transport.ts';

export interface PipelineParts extends PlanParts, Omit<ReadParts, 'streamUsage'> {
  readonly gatekeeper: Gatekeeper;
  readonly ledger: Ledger;
  readonly refunds: JobRouteParts['refunds'];
  readonly transport: UpstreamTransport;
  readonly response: ResponseContext;
  readonly bodyLimitBytes: number;
  /** Folder of large bodies of open calls. */
  readonly spools: SpoolFolder;
}

/**
 * The request path of one endpoint: specification section 3 from top to bottom. Each step may throw a GatewayError,
 * which is then the answer; nothing has reached the upstream.
 *
 *  1 who calls, and may they from here and now   checks 1 to 8: before the body is read, so strangers cost no memory
 *  2 what do they ask for                        check 9 (read.ts)
 *  3 what may it cost                            the hold, an upper bound, and the estimate (plan.ts)
 *  4 may the key, can the account                checks 10 to 12: one Redis round trip (admit.ts)
 *  5 send it to a target, and to the next        specification sections 4 and 12 (attempts.ts)
 *  6 relay the answer                            response/receive.ts
 *  7 settle                                      specification section 5 (settle.ts)
 *
 * The steps are plain async functions. The promises of steps that have nothing to wait for cost 0.9 µs a call, of some
 * 170 µs (Node 24.21): too little to write each step a second time without them.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #endpoint: Endpoint;
  readonly #unknown: UnknownMembers;
  readonly #admitParts: AdmitParts;
  readonly #readParts: ReadParts;

  /** `unknown` is shared by all endpoints. */
  constructor(parts: PipelineParts, endpoint: Endpoint, unknown: UnknownMembers) {
    this.#parts = parts;
    this.#endpoint = endpoint;
    this.#unknown = unknown;
    this.#admitParts = { ...parts, metrics: parts.response.metrics };
    this.#readParts = { ...parts, streamUsage: parts.response.targets.streamUsage };
  }

  /** Step 1, before the body is received. Sets `request.call`. `deployment`: the model, if the address names it. */
  async enter(request: FastifyRequest, { raw }: FastifyReply, deployment?: string): Promise<void> {
    const startedAt = performance.now();
    const { gatekeeper, pools } = this.#parts;
    const cached = gatekeeper.authorizeCached(request);
    const compiled = cached ?? (await gatekeeper.authorize(request));
    const call = new Call({
      requestId: request.id,
      endpoint: this.#endpoint,
      deployment,
      startedAt,
      compiled,
      recordIsCurrent: cached === undefined,
      memory: new CallMemory(pools, compiled.key.accountId),
    });
    request.call = call;
    const closed = () => {
      if (call.answering) call.answering.clientLeft();
      else call.memory.free();
    };
    if (raw.destroyed) closed();
    else raw.once('close', closed);
  }

  /** Steps 2 to 7 for an entered call. Resolves when its answer has begun. */
  async run(request: FastifyRequest, reply: FastifyReply, call: Call): Promise<void> {
    const planned = await this.#plan(request, call);
    const admitted = await admit(request, reply, planned, this.#admitParts);
    const { quote, facts, compiled } = admitted;
    if (quote.unknown.length > 0)
      this.#unknown.note(quote.unknown, facts.model, compiled.key.accountId, request.log);
    await this.#attempt(request, reply, admitted);
  }

  /** Steps 2 and 3. */
  async #plan(request: FastifyRequest, call: Call) {
    try {
      const [read, findings] = await readRequest(request, call, this.#readParts);
      // The place of a large body is free again: the rest can wait for the book.
      if (read.facts.isStream) read.memory.stream();
      return Object.assign(read, { quote: await quoteOf(request, read, findings, this.#parts) });
    } catch (refusal) {
      // Checks 1 to 8 come first, by the current record: a key that was just deleted gets that refusal.
      if (!call.recordIsCurrent) await this.#parts.gatekeeper.authorize(request);
      throw refusal;
    }
  }

  /** Steps 5 to 7. */
  async #attempt(request: FastifyRequest, reply: FastifyReply, call: AdmittedCall): Promise<void> {
    const { ledger, response: context, transport } = this.#parts;
    let response: ClientResponse | undefined;
    try {
      response = new ClientResponse(request, reply, call, context);
      call.answering = response;
      // The client left during admission: send nothing upstream.
      if (reply.raw.destroyed) response.clientLeft();
      else await new Attempts(request, response, transport).run();
    } catch (error) {
      // Whatever failed here, the hold is released or charged.
      request.log.error({ err: error }, 'failed to answer a call');
      if (!response) settleCall(ledger, call, NOT_SENT, () => {});
      else response.broken(error as Error, 500, response.relay?.reading());
      throw error;
    }
  }

  /**
   * Counts a refused call and adds the rate limit headers if its admission has not. A ClientResponse counts its own
   * refusals.
   */
  async refused(request: FastifyRequest, reply: FastifyReply, error: Error): Promise<void> {
    const { headers, call } = request;
    if (call?.answering) return;
    const { metrics, tracing, recorder } = this.#parts.response;
    const { path } = this.#endpoint;
    const refusal = refusalFrom(error);
    metrics.refused(path, refusal.code);
    if (error instanceof LedgerUnavailable) metrics.undecided(error.reason);
    tracing?.refused(headers, path, refusal, call);
    if (!call?.isSettled) recorder.refused(request, this.#endpoint, refusal);
    if (reportsLimits(refusal.statusCode) && !reply.raw.destroyed)
      await this.#sendLimits(reply, this.#parts.gatekeeper.cached(request));
  }

  async #sendLimits(reply: FastifyReply, compiled: CompiledKey | undefined): Promise<void> {
    const limits = compiled?.limits;
    if (!limits || !(hasBuckets(limits.key) || hasBuckets(limits.account))) return;
    const { key } = compiled;
    const { format } = this.#endpoint;
    if (hasLimitHeaders(reply, format)) return;
    try {
      setLimitHeaders(reply, format, await this.#parts.ledger.limitStates(key.accountId, key.id));
    } catch {
      // Answer without the headers.
    }
  }
}

/** Ending of a call that could not begin: nothing is charged. */
const NOT_SENT: Ending = {
  status: 500,
  outcome: 'upstream_unreachable',
  usage: undefined,
  estimated: false,
};
