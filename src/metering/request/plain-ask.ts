import { holdFor, isPricedByToken, type Reach } from '../../domain/price.ts';
import type { Unit } from '../../domain/price-units.ts';
import type { Usage } from '../../domain/usage.ts';
import type { MeteredBody } from '../metered-body.ts';
import { type Asked, NONE } from './asked.ts';
import { highestMultiplier, serviceTierOf, tierCharge } from './service-tiers.ts';
import { type Bounds, type Likely, likelyCost, likelyTokens } from './token-cost.ts';

/** What a call of an endpoint without tools asks for. */
interface PlainAsk {
  /** The most that it uses. */
  readonly usage: Usage;
  /** Its input tokens, where they depend on the bounds. */
  readonly input?: (bounds: Bounds) => number;
  /** Units, beside the plain ones, that its tokens can be charged by. */
  readonly reach?: { readonly input?: readonly Unit[]; readonly output?: readonly Unit[] };
  readonly likely: Likely;
}

/** What a call of an endpoint without tools asks for; of the fields with fees such a call can have a service tier only. */
export function plainAsk({ model, value }: MeteredBody, { usage, input, reach, likely }: PlainAsk): Asked {
  const { price, category } = model;
  // Pictures and sound are made of tokens only where they are priced so; text always is.
  const tokens = category === 'text' || isPricedByToken(price) ? likelyTokens(likely) : 0;
  const tier = serviceTierOf(value.service_tier);
  const multiplier = highestMultiplier(price, tier);
  const most: Reach = { ...reach, multiplier };
  return {
    charges: typeof tier === 'string' ? [tierCharge('service_tier', tier)] : NONE,
    serviceTiers: typeof tier === 'string' ? [tier] : NONE,
    cost(bounds) {
      const hold = holdFor(price, input ? { ...usage, input: input(bounds) } : usage, most);
      return { hold, estimate: likelyCost(model, hold, likely), tokens };
    },
  };
}
