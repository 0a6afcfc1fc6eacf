import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasBuckets } from '../domain/call-limits.ts';
import { type Catalog, type Model, type Target, targetName } from '../domain/catalog.ts';
import { micro } from '../domain/credits.ts';
import type { CompiledKey } from '../domain/rules.ts';
import { type Ledger, LedgerUnavailable } from '../ledger/ledger.ts';
import type { Bounds } from '../metering/bounds.ts';
import { inMemory } from '../metering/byte-source.ts';
import { tokensOfSounds } from '../metering/media.ts';
import { checkMembers, type MemberFindings } from '../metering/members.ts';
import type { Meter } from '../metering/meter.ts';
import { type CostPlan, NONE, type Surcharge, unpricedIn } from '../metering/plan.ts';
import { encryptedIds } from '../metering/reasoning.ts';
import type { CallCost } from '../metering/token-cost.ts';
import type { Pools } from '../shares/pools.ts';
import { type AdmitParts, admit } from './admit.ts';
import type { Asked, EnteredCall, ReadCall } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import { forward } from './forward.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import { hasLimitHeaders, reportsLimits, setLimitHeaders } from './limits.ts';
import { refusalFrom } from './refuse.ts';
import { type CallBody, checkJsonBody, isJson, readJsonBody, retainScalars } from './request/call-body.ts';
import { CallMemory, largeReadsOf } from './request/call-memory.ts';
import { readFormBody } from './request/form/form-body.ts';
import { inOwnTurn } from './request/json/heavy-step.ts';
import { type ReadJson, readJsonInPieces } from './request/json/json-reader.ts';
import { countOnce, rereading } from './request/json/rereading.ts';
import { InspectedNames, type UnknownMembers } from './request/members.ts';
import { checkEncoding, refuseBetas } from './request/request-head.ts';
import { Spool, type SpoolFolder, Upload } from './request/spool/spool.ts';
import type { JobRouteParts } from './resources/job-request.ts';
import { referencedIds } from './resources/referenced-ids.ts';
import type { ResourceOwnership } from './resources/resource-ownership.ts';
import type { ResponseContext } from './response/response-context.ts';
import { type Ending, settleCall } from './settle.ts';
import { type UpstreamBody, upstreamJson } from './upstream/body.ts';
import type { UpstreamTransport } from './upstream/transport.ts';

export interface PipelineParts {
  readonly gatekeeper: Gatekeeper;
  readonly ledger: Ledger;
  readonly catalog: () => Catalog;
  readonly ownership: ResourceOwnership;
  readonly refunds: JobRouteParts['refunds'];
  readonly transport: UpstreamTransport;
  readonly response: ResponseContext;
  readonly bounds: Bounds;
  /** Whether requests for something without a price are refused or pass at the plain price. */
  readonly unpriced: 'refuse' | 'pass';
  readonly bodyLimitBytes: number;
  /** Folder of large bodies of open calls. */
  readonly spools: SpoolFolder;
  readonly pools: Pools;
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
  readonly #unknown: UnknownMembers;
  readonly #admitParts: AdmitParts;

  /** `unknown` is shared by all endpoints. */
  constructor(parts: PipelineParts, endpoint: Endpoint, unknown: UnknownMembers) {
    this.#parts = parts;
    this.#endpoint = endpoint;
    this.#unknown = unknown;
    this.#admitParts = { ...parts, metrics: parts.response.metrics };
  }

  /** Step 1, before the body is received. Sets `request.call`. */
  async enter(request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
    const startedAt = performance.now();
    const { gatekeeper, pools } = this.#parts;
    const cached = gatekeeper.authorizeCached(request);
    const compiled = cached ?? (await gatekeeper.authorize(request));
    const memory = new CallMemory(pools, compiled.key.accountId);
    request.call = {
      requestId: request.id,
      endpoint: this.#endpoint,
      startedAt,
      compiled,
      recordIsCurrent: cached === undefined,
      memory,
    };
    const closed = () => {
      if (request.lifecycle) request.lifecycle.clientLeft();
      else memory.free();
    };
    if (raw.destroyed) closed();
    else raw.once('close', closed);
  }

  /**
   * Steps 2 to 5 for an entered call. Resolves when it is on its way upstream; its ResponseLifecycle answers and
   * settles.
   */
  async run(request: FastifyRequest, reply: FastifyReply, entered: EnteredCall): Promise<void> {
    const { ledger, gatekeeper } = this.#parts;
    let read: ReadCall;
    try {
      read = await this.#read(request, entered);
    } catch (refusal) {
      // Checks 1 to 8 come first, by the current record: a key that was just deleted gets that refusal.
      if (!entered.recordIsCurrent) await gatekeeper.authorize(request);
      throw refusal;
    }
    const held = await admit(request, reply, read, this.#admitParts);
    const { unknown, body, compiled } = held;
    if (unknown.length > 0) this.#unknown.note(unknown, body.model, compiled.key.accountId, request.log);
    try {
      forward(request, reply, held, this.#parts);
    } catch (error) {
      // Whatever failed here, release the hold.
      if (!request.lifecycle) {
        settleCall(ledger, held, NOT_FORWARDED, () => {});
        entered.isInLedger = true;
      }
      throw error;
    }
  }

  /**
   * Counts a refused call and adds the rate limit headers if its admission has not. A ResponseLifecycle counts its own
   * refusals.
   */
  async refused(request: FastifyRequest, reply: FastifyReply, error: Error): Promise<void> {
    const { headers, call, lifecycle } = request;
    if (lifecycle) return;
    const { metrics, tracing, recorder } = this.#parts.response;
    const { path } = this.#endpoint;
    const refusal = refusalFrom(error);
    metrics.refused(path, refusal.code);
    if (error instanceof LedgerUnavailable) metrics.undecided(error.reason);
    tracing?.refused(headers, path, refusal, call);
    if (!call?.isInLedger) recorder.refused(request, this.#endpoint, refusal);
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

  /** Steps 2 and 3. Afterwards only the body's bytes and a few scalars stay in memory. */
  async #read(request: FastifyRequest, entered: EnteredCall): Promise<ReadCall> {
    const [parsed, findings] = await this.#parse(request, entered);
    // The place of a large body is free again: this can wait for the book.
    return await this.#bounded(request, parsed, findings);
  }

  async #parse(request: FastifyRequest, entered: EnteredCall): Promise<Parsed> {
    const { body } = request;
    checkEncoding(request.headers);
    const spool = body instanceof Spool ? body : undefined;
    const { pools } = this.#parts;
    const readLarge = largeReadsOf(pools, entered.compiled.key.accountId);
    if (!isJson(request, this.#endpoint)) {
      const read = () => this.#readForm(request, entered);
      return spool ? await readLarge(spool.size, read) : await read();
    }
    if (spool)
      return await readLarge(spool.size, async () => {
        const read = await readJsonInPieces(spool, new InspectedNames());
        return await this.#readJson(request, entered, read, spool);
      });
    const read = readJsonBody(body);
    if (!read.isHeavy) return await this.#readJson(request, entered, read);
    // A body of very many parts takes as much memory as a large one.
    return await readLarge(read.size, () => this.#readJson(request, entered, read));
  }

  async #readForm(request: FastifyRequest, entered: EnteredCall): Promise<Parsed> {
    const { meter, members } = this.#endpoint;
    const type = request.headers['content-type'];
    const body = await readFormBody(
      request.body,
      type,
      this.#parts.catalog(),
      this.#endpoint,
      (value, isStream) => {
        entered.asked = askedOf(value, isStream);
      },
    );
    const findings = members && checkMembers(body, members);
    const plan = meter.plan(body);
    const others = otherPlans(body, meter);
    const named = referencedIds(body.value);
    request.body = undefined;
    // The form was rebuilt while it was read, so that it is not in memory twice.
    const sent = formBody(body);
    return [
      { ...entered, body, upstreamBody: sent },
      { plan, others, findings, named },
    ];
  }

  async #readJson(
    request: FastifyRequest,
    entered: EnteredCall,
    read: ReadJson,
    spool?: Spool,
  ): Promise<Parsed> {
    const { meter, members, asksForUsage } = this.#endpoint;
    const { catalog, bounds, response } = this.#parts;
    const { streamUsage } = response.targets;
    // Each step below takes some 10 ms for a body of very many parts.
    const step = read.isHeavy ? inOwnTurn : atOnce;
    const value = await step(() => read.parse());
    entered.asked = askedOf(value, value.stream === true);
    const bytes = spool ? new Upload(spool) : (request.body as Buffer);
    const body = checkJsonBody(read, value, bytes, catalog(), this.#endpoint);
    const findings = members && (await step(() => checkMembers(body, members)));
    const { plan, others, sent } = await step(() => {
      const made = meter.plan(body);
      const { sets = NONE } = made;
      const asks = asksForUsage && body.isStream && streamUsage.asksAny(body.model);
      const json = upstreamJson(body, read, { asksForUsage: asks, sets, bounds });
      return { plan: made, others: otherPlans(body, meter), sent: json };
    });
    const named = await step(() => referencedIds(value));
    const encrypted = others ? encryptedIds(value.input, body.elidedStrings) : NONE;
    const { sounds = NONE } = plan;
    const source = spool ?? inMemory(bytes as Buffer);
    const soundTokens = sounds.length > 0 ? await tokensOfSounds(sounds, body, source) : undefined;
    // `sent` goes upstream; release the original upload.
    request.body = undefined;
    const isLarge = spool !== undefined || read.isHeavy;
    const counted = isLarge
      ? await step(() => countOnce(this.#endpoint, body, read))
      : (sent.bytes as Buffer);
    const endpoint = rereading(this.#endpoint, counted);
    const scalars = retainScalars(body, plan.hints, sent.bytes);
    const cut = { ...entered, endpoint, body: scalars, upstreamBody: sent };
    return [cut, { plan, others, findings, named, encrypted, soundTokens }];
  }

  /** End of step 3: references of the request and its unpriced features. */
  async #bounded(
    { headers }: FastifyRequest,
    read: Parsed[0],
    { plan, others, findings, named, encrypted = NONE, soundTokens }: Findings,
  ): Promise<ReadCall> {
    const { ownership, bounds, unpriced } = this.#parts;
    const { body, compiled, memory } = read;
    const { model } = body;
    if (body.isStream) memory.stream();
    if (unpriced === 'refuse') refuseBetas(headers, model);
    const refusalOf = (at: Model, of: CostPlan) => {
      if (unpriced !== 'refuse') return undefined;
      return (findings && unpricedIn(findings, at)) ?? unpricedIn(of, at);
    };
    const places = others ? targetPlans(model, plan, others) : undefined;
    // Skip targets that lack a price for something in the call.
    const priced = places?.filter((place) => refusalOf(place.target.model, place.plan) === undefined);
    const refusal = priced && priced.length > 0 ? undefined : refusalOf(model, plan);
    // An unpriced tool is refused whatever it refers to; otherwise a reference to another account's object is refused
    // first.
    if (refusal && plan.charges.some(isOfTool)) throw refusal;
    const stored = named.size > 0 ? await ownership.behind(named, body, compiled.key) : NOTHING_STORED;
    if (refusal) throw refusal;
    const { tokens: storedTokens } = stored;
    const unknown = findings?.unknown ?? NONE;
    const all = { ...bounds, storedTokens, soundTokens };
    const { serviceTiers } = plan;
    if (!places || !priced) return { ...read, unknown, storedTokens, ...plan.cost(all), serviceTiers };
    // Only one credential can use a stored object, and only one can read encrypted reasoning.
    const isEncrypted = encrypted.length > 0;
    const targets = places.map((place) => place.target);
    const only =
      stored.target ?? (isEncrypted ? await ownership.makerOf(encrypted, targets, compiled.key) : undefined);
    const isOwn = (place: TargetPlan) =>
      only === undefined || targetName(place.target.model.upstream) === only;
    const fit = priced.filter(isOwn);
    if (fit.length === 0) {
      const place = places.find(isOwn);
      throw (place && refusalOf(place.target.model, place.plan)) ?? new Error('a call has no target');
    }
    return {
      ...read,
      unknown,
      storedTokens,
      ...highestCost(fit.map((place) => place.plan.cost(all))),
      serviceTiers,
      targets: fit.map((place) => place.target),
      isPinned: isEncrypted && only === undefined,
    };
  }
}

function isOfTool({ param }: Surcharge): boolean {
  return param === 'tools';
}

function askedOf(value: Readonly<Record<string, unknown>>, isStream: boolean): Asked {
  const model = Object.hasOwn(value, 'model') ? value.model : undefined;
  return { model: typeof model === 'string' ? model : null, isStream };
}

function formBody({ bytes, named }: CallBody): UpstreamBody {
  const form = { bytes, injectedUsage: false, addedOptions: false };
  return named ? { ...form, formOf: (name) => ({ ...form, bytes: named(name) }) } : form;
}

/** The body's plans at the other targets of its model, if any. */
function otherPlans(body: CallBody, meter: Meter): readonly CostPlan[] | undefined {
  return body.model.targets?.slice(1).map(({ model }) => meter.plan({ ...body, model }));
}

interface TargetPlan {
  readonly target: Target;
  readonly plan: CostPlan;
}

function targetPlans(
  { targets = NONE }: Model,
  first: CostPlan,
  others: readonly CostPlan[],
): readonly TargetPlan[] {
  return targets.map((target, index) => ({ target, plan: others[index - 1] ?? first }));
}

/** The highest cost of the call at any of its targets. */
function highestCost(costs: readonly CallCost[]): CallCost {
  const highest = costs.reduce((a, b) => (b.hold > a.hold ? b : a));
  return {
    ...highest,
    estimate: micro(Math.max(...costs.map(({ estimate }) => estimate))),
    tokens: Math.max(...costs.map(({ tokens }) => tokens)),
    mediaTokens: Math.max(...costs.map(({ mediaTokens }) => mediaTokens)),
  };
}

const NOTHING_STORED = { tokens: 0, target: undefined } as const;

interface Findings {
  readonly plan: CostPlan;
  /** Plans at the other targets of the model. */
  readonly others: readonly CostPlan[] | undefined;
  readonly findings: MemberFindings | undefined;
  readonly named: ReadonlyMap<string, string>;
  /** Ids of encrypted reasoning, if the model has several targets. */
  readonly encrypted?: readonly string[] | undefined;
  readonly soundTokens?: number | undefined;
}

/** A call whose body was read, before its cost is known. */
type Parsed = [Omit<ReadCall, 'unknown' | 'storedTokens' | 'serviceTiers' | keyof CallCost>, Findings];

/** Ending of a call whose forwarding failed before it began: nothing is charged. */
const NOT_FORWARDED: Ending = {
  status: 500,
  outcome: 'upstream_unreachable',
  usage: undefined,
  estimated: false,
};

const atOnce: typeof inOwnTurn = async (work) => work();
