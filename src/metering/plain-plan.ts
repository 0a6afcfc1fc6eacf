import type { Price } from '../domain/catalog.ts';
import { holdFor, isPricedByToken, type Reach } from '../domain/price.ts';
import type { Unit, Usage } from '../domain/units.ts';
import type { Bounds } from './bounds.ts';
import { type Meter, type MeteredBody, type StreamMeter, saysError } from './meter.ts';
import { type CostPlan, fixedCost, NONE, type Surcharge } from './plan.ts';
import { highestMultiplier, serviceTierOf, tierCharge } from './terms.ts';
import { type ExpectedUse, estimatedCost, estimatedTokens } from './token-cost.ts';

/** The plan of a call of an endpoint without tools. */
interface PlainPlan {
  /** The most that it uses. */
  readonly usage: Usage;
  /** Its input tokens, and those of them that are for pictures, if they depend on the bounds. */
  readonly input?: (bounds: Bounds) => { readonly tokens: number; readonly media: number };
  /** Units, beside the plain ones, that its tokens can be charged by. */
  readonly reach?: { readonly input?: readonly Unit[]; readonly output?: readonly Unit[] };
  readonly expected: ExpectedUse;
  /** Other features that may have no price. */
  readonly charges?: readonly Surcharge[];
  /** Prices by the size and quality of the output; absent: those of the model. */
  readonly price?: Price;
}

/** The plan of a call of an endpoint without tools; of the fields with fees such a call can have a service tier only. */
export function plainPlan(
  { model, value }: MeteredBody,
  { usage, input, reach, expected, charges = NONE, price = model.price }: PlainPlan,
): CostPlan {
  const { category } = model;
  // Pictures and sound are made of tokens only if they are priced so; text always is.
  const tokens = category === 'text' || isPricedByToken(price) ? estimatedTokens(expected) : 0;
  const tier = serviceTierOf(value.service_tier);
  const multiplier = highestMultiplier(price, tier);
  const most: Reach = { ...reach, multiplier };
  return {
    charges: typeof tier === 'string' ? [...charges, tierCharge('service_tier', tier)] : charges,
    serviceTiers: typeof tier === 'string' ? [tier] : NONE,
    cost(bounds) {
      const read = input?.(bounds);
      const hold = holdFor(price, read ? { ...usage, input: read.tokens } : usage, most);
      return {
        hold,
        estimate: estimatedCost({ price }, hold, expected),
        tokens,
        mediaTokens: read?.media ?? 0,
      };
    },
  };
}

const PASSES: StreamMeter = {
  event: () => 'pass',
  kept: {},
  pieces: 0,
  usage: {},
  outputText: () => '',
};

/**
 * Endpoints whose tokens are not charged, `/v1/moderations` and those that count tokens: the price per request is
 * the hold and the charge (specification section 5), whatever is sent and whatever the answer reports.
 */
export const perRequest: Meter = {
  plan: ({ model }) => fixedCost(holdFor(model.price, {})),
  usage: (answer) => (saysError(answer) ? undefined : {}),
  failed: saysError,
  outputText: () => '',
  stream: () => PASSES,
  estimate: async () => ({}),
};
