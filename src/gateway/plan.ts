import type { FastifyRequest } from 'fastify';
import { type Model, type Target, targetName } from '../domain/catalog.ts';
import { micro } from '../domain/credits.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { Bounds } from '../metering/bounds.ts';
import type { MemberFindings } from '../metering/members.ts';
import type { Meter, ParsedRequest } from '../metering/meter.ts';
import { NONE, type RequestPlan, type Surcharge, unpricedIn } from '../metering/plan.ts';
import type { CallCost } from '../metering/token-cost.ts';
import type { Quote, ReadCall } from './call.ts';
import { refuseBetas } from './request/request-head.ts';
import type { ResourceOwnership } from './resources/resource-ownership.ts';

export interface PlanParts {
  readonly ownership: ResourceOwnership;
  readonly bounds: Bounds;
  /** Whether requests for something without a price are refused or pass at the plain price. */
  readonly unpriced: 'refuse' | 'pass';
}

/** What was found in a request, before its content was dropped. */
export interface Findings {
  readonly plan: RequestPlan;
  /** Plans at the other targets of the model, if it has several. */
  readonly others: readonly RequestPlan[] | undefined;
  readonly members: MemberFindings | undefined;
  /** Ids of stored objects, each with its member. */
  readonly named: ReadonlyMap<string, string>;
  /** Ids of encrypted reasoning, if the model has several targets. */
  readonly encrypted?: readonly string[] | undefined;
  readonly soundTokens?: number | undefined;
}

/** The body's plans at the model of the call, and at the other targets of that. Throws GatewayError. */
export function plansOf(body: ParsedRequest, meter: Meter): Pick<Findings, 'plan' | 'others'> {
  return {
    plan: meter.plan(body),
    others: body.model.targets?.slice(1).map(({ model }) => meter.plan({ ...body, model })),
  };
}

/**
 * Step 3 of the pipeline: what a call may cost at most, and at which targets. Looks up the objects that it refers to.
 * Rejects with the GatewayError for a feature without a price, or an object of another account.
 */
export async function quoteOf(
  { headers }: FastifyRequest,
  { facts, compiled }: ReadCall,
  { plan, others, members, named, encrypted = NONE, soundTokens }: Findings,
  { ownership, bounds, unpriced }: PlanParts,
): Promise<Quote> {
  const { model } = facts;
  if (unpriced === 'refuse') refuseBetas(headers, model);
  const refusalOf = (at: Model, of: RequestPlan): GatewayError | undefined => {
    if (unpriced !== 'refuse') return undefined;
    return (members && unpricedIn(members, at)) ?? unpricedIn(of, at);
  };
  const places = others ? targetPlans(model, plan, others) : undefined;
  // Skip targets that lack a price for something in the call.
  const priced = places?.filter((place) => refusalOf(place.target.model, place.plan) === undefined);
  const refusal = priced && priced.length > 0 ? undefined : refusalOf(model, plan);
  // An unpriced tool is refused whatever it refers to; otherwise a reference to another account's object is refused
  // first.
  if (refusal && plan.charges.some(isOfTool)) throw refusal;
  const stored = named.size > 0 ? await ownership.behind(named, model, compiled.key) : NOTHING_STORED;
  if (refusal) throw refusal;
  const { tokens: storedTokens } = stored;
  const all = { ...bounds, storedTokens, soundTokens };
  const common = { unknown: members?.unknown ?? NONE, storedTokens, serviceTiers: plan.serviceTiers };
  if (!places || !priced) return { ...common, ...plan.cost(all) };
  // Only one credential can use a stored object, and only one can read encrypted reasoning.
  const isEncrypted = encrypted.length > 0;
  const targets = places.map((place) => place.target);
  const only =
    stored.target ?? (isEncrypted ? await ownership.makerOf(encrypted, targets, compiled.key) : undefined);
  const isOwn = (place: TargetPlan) => only === undefined || targetName(place.target.model.upstream) === only;
  const fit = priced.filter(isOwn);
  if (fit.length === 0) {
    const place = places.find(isOwn);
    throw (place && refusalOf(place.target.model, place.plan)) ?? new Error('a call has no target');
  }
  return {
    ...common,
    ...highestCost(fit.map((place) => place.plan.cost(all))),
    targets: fit.map((place) => place.target),
    isPinned: isEncrypted && only === undefined,
  };
}

function isOfTool({ param }: Surcharge): boolean {
  return param === 'tools';
}

interface TargetPlan {
  readonly target: Target;
  readonly plan: RequestPlan;
}

function targetPlans(
  { targets = NONE }: Model,
  first: RequestPlan,
  others: readonly RequestPlan[],
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
