import type { Price } from '../domain/catalog.ts';
import { type BillableUnits, holdFor, isPricedByToken } from '../domain/price.ts';
import type { Unit, Usage } from '../domain/units.ts';
import type { Bounds } from './bounds.ts';
import { type Meter, NO_TOKENS, type ParsedRequest, type StreamMeter } from './meter.ts';
import { fixedCost, NONE, type RequestPlan, type Surcharge } from './plan.ts';
import { requestedTier } from './terms.ts';
import { type ExpectedUse, estimatedCost, estimatedTokens } from './token-cost.ts';

/** Plan for an endpoint without tools. */
interface PlainPlan {
  /** Maximum usage. */
  readonly usage: Usage;
  /** Input tokens, and the media share of them, if they depend on the bounds. */
  readonly input?: (bounds: Bounds) => { readonly tokens: number; readonly media: number };
  /** Further units that can price its tokens. */
  readonly reach?: { readonly input?: readonly Unit[]; readonly output?: readonly Unit[] };
  readonly expected: ExpectedUse;
  /** Other features that may lack a price. */
  readonly charges?: readonly Surcharge[];
  /** Prices by the size and quality of the output; absent: those of the model. */
  readonly price?: Price;
}

/** Plans a call of an endpoint without tools. Of the fields with fees, only a service tier can occur. */
export function plainPlan(
  body: ParsedRequest,
  { usage, input, reach, expected, charges = NONE, price = body.model.price }: PlainPlan,
): RequestPlan {
  const { category } = body.model;
  // Tokens of images and audio count only if priced; tokens of text always count.
  const tokens = category === 'text' || isPricedByToken(price) ? estimatedTokens(expected) : 0;
  const tier = requestedTier(body, price);
  const most: BillableUnits = { ...reach, multiplier: tier.multiplier };
  return {
    charges: [...charges, ...tier.charges],
    serviceTiers: tier.serviceTiers,
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
  hasAnswer: true,
  usage: {},
  outputTokens: 0,
};

/**
 * Endpoints without charged tokens: `/v1/moderations` and token counting. The price per request is both hold and charge
 * (specification section 5), whatever the call sends or reports.
 */
export const perRequest: Meter = {
  plan: ({ model }) => fixedCost(holdFor(model.price, {})),
  usage: () => ({}),
  outputTokens: () => 0,
  stream: () => PASSES,
  inputTokens: () => NO_TOKENS,
  estimate: () => ({}),
};
