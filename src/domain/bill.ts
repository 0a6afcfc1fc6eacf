import type { Price, UnitPrices, Variant } from './catalog.ts';
import type { Micro } from './credits.ts';
import type { AppliedPass, AppliedUnits } from './ledger-entry.ts';
import { appliedUnits, chargeForParts, multiplierOf, type PricedPart, unitsFor } from './price.ts';
import { inputTokens, type Usage } from './units.ts';
import { priceOfVariant } from './variants.ts';

/** Facts besides the usage that prices depend on: from the answer or, if it does not report them, from the request. */
export interface Terms {
  /** Service tiers, by the names of their multipliers; undefined if the answer reports none. */
  readonly serviceTiers?: readonly string[] | undefined;
  /** Usage of each of the model's passes, if the answer reports them. Each pass has its own length tier. */
  readonly passes?: readonly Usage[] | undefined;
  /** Size and quality of the output, for prices that depend on them. */
  readonly made?: Variant | undefined;
  /** True if the vendor bills only fees: a refusal of Anthropic's without output. */
  readonly isUnbilled?: boolean | undefined;
}

/** A charge with everything needed to recompute it. */
export interface Bill {
  readonly charge: Micro;
  /** Usage with the request itself, if that is billed. */
  readonly usage: Usage;
  /** The applied unit prices; with several length tiers, those of the longest pass. */
  readonly price: AppliedUnits;
  /** In millionths. */
  readonly multiplier: number;
  /** Passes in different length tiers; `usage` is their sum. */
  readonly passes?: readonly AppliedPass[];
  /** The provider's price for the same; undefined if the list does not have it. */
  readonly cost?: Micro;
}

/**
 * The bill of a usage (specification section 10). `asked`: service tiers that the request names. Throws RangeError as
 * `chargeFor` does.
 */
export function billOf(
  model: { readonly price: Price; readonly cost?: Price | undefined },
  reported: Usage,
  asked: readonly string[],
  { serviceTiers = asked, passes, made, isUnbilled = false }: Terms,
): Bill {
  const { cost } = model;
  const price = made ? priceOfVariant(model.price, made) : model.price;
  const usage: Usage = isUnbilled ? reported : { ...reported, requests: 1 };
  const multiplier = isUnbilled ? 0 : multiplierOf(price, serviceTiers);
  const parts = partsOf(price, usage, passes);
  const longest = parts.reduce((a, b) => (inputTokens(b.usage) > inputTokens(a.usage) ? b : a));
  return {
    charge: chargeForParts(parts, multiplier),
    usage,
    price: appliedUnits(longest.units, usage),
    multiplier,
    ...(parts.length > 1 ? { passes: parts.map(appliedPass) } : {}),
    ...(cost ? { cost: chargeForParts(partsOf(cost, usage, passes), multiplier) } : {}),
  };
}

function appliedPass({ usage, units }: PricedPart): AppliedPass {
  return { usage, price: appliedUnits(units, usage) };
}

/** The usage by length tier: one part, unless its passes reach different ones. */
function partsOf(price: Price, usage: Usage, passes: readonly Usage[] = []): readonly PricedPart[] {
  const whole = (units: UnitPrices) => [{ usage, units }];
  const fees = passes.length > 1 && price.tiers.length > 0 ? beyond(usage, passes) : undefined;
  if (!fees) return whole(unitsFor(price, usage));
  const parts = passes.map((pass) => ({ usage: pass, units: unitsFor(price, pass) }));
  const [first, ...others] = parts as [PricedPart, ...PricedPart[]];
  if (others.every(({ units }) => units === first.units)) return whole(first.units);
  // Fees belong to no pass. The last one has them, so that the passes add up to the usage.
  return parts.map((part, index) =>
    index < parts.length - 1 ? part : { ...part, usage: { ...part.usage, ...fees } },
  );
}

const FEES: ReadonlySet<string> = new Set(['requests', 'webSearches', 'webSearchPreviews']);

/** Fees in a usage beyond those of its passes; undefined if the passes are incomplete and so can't be trusted. */
function beyond(usage: Usage, passes: readonly Usage[]): Usage | undefined {
  const fees: Usage = {};
  const names = new Set([usage, ...passes].flatMap((one) => Object.keys(one) as (keyof Usage)[]));
  for (const name of names) {
    const rest = passes.reduce((left, pass) => left - (pass[name] ?? 0), usage[name] ?? 0);
    if (rest === 0) continue;
    if (rest < 0 || !FEES.has(name)) return undefined;
    fees[name] = rest;
  }
  return fees;
}
