import type { Price } from '../../domain/catalog.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import type { Charge } from './asked.ts';

/**
 * What a request says of one thing that its price is multiplied by: a name; null: the plain one; undefined: nothing, or that
 * the provider may choose.
 */
export type TierChoice = string | null | undefined;

/** Values of `service_tier` that are charged at the plain price. */
const PLAIN: ReadonlySet<unknown> = new Set(['default', 'standard', 'standard_only']);

/** The choice of a `service_tier`. */
export function serviceTierOf(value: unknown): TierChoice {
  if (value === undefined || value === null || value === 'auto') return undefined;
  return PLAIN.has(value) ? null : String(value);
}

/**
 * The most that the price can be multiplied by, in millionths. A tier that is asked for counts as it is, but at least 1, since
 * the provider may serve another; where none is, the dearest of `among` counts (specification section 5, Admit).
 */
export function highestMultiplier(
  { serviceTiers }: Price,
  choice: TierChoice,
  among: (tier: string) => boolean = () => true,
): number {
  if (serviceTiers.size === 0 || choice === null) return TIMES_ONE;
  if (choice !== undefined) return Math.max(TIMES_ONE, serviceTiers.get(choice) ?? TIMES_ONE);
  let most = TIMES_ONE;
  for (const [tier, times] of serviceTiers) if (among(tier)) most = Math.max(most, times);
  return most;
}

/** The charge for a tier that a field names. */
export function tierCharge(param: string, serviceTier: string): Charge {
  return { param, what: `${param} ${JSON.stringify(serviceTier.slice(0, 100))}`, serviceTier };
}
