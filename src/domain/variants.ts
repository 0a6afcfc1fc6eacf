import type { Model, Price, UnitPrices, Variant, VariantPrice } from './catalog.ts';
import type { Unit } from './units.ts';

/** Units whose price can go by what is made, with their vendors' defaults. */
const DEFAULTS = {
  image: { size: '1024x1024', quality: 'standard' },
  videoSecond: { size: '720x1280', quality: 'standard' },
} as const satisfies Partial<Record<Unit, Required<Variant>>>;

export type VariedUnit = keyof typeof DEFAULTS;

export const VARIED_UNITS = Object.keys(DEFAULTS) as readonly VariedUnit[];

/**
 * The variant that a key of a price names: `size`, `quality` or `size/quality`. A size begins with a digit. Undefined
 * if it is none of them.
 */
export function variantOf(key: string): Variant | undefined {
  const [, size, quality] = /^(\d[^/\s]*)\/([^/\s\d][^/\s]*)$/.exec(key) ?? [];
  if (size !== undefined && quality !== undefined) return { size, quality };
  if (!/^[^/\s]+$/.test(key)) return undefined;
  return /^\d/.test(key) ? { size: key } : { quality: key };
}

/**
 * The price of an output: that of the most expensive variant that its known size and quality fit. Unchanged if none
 * fits, or the price depends on nothing: it is then that of the most expensive variant.
 */
export function priceOfVariant(price: Price, made: Variant): Price {
  if (!price.variants) return price;
  const units: { [U in Unit]?: bigint } = {};
  for (const unit of VARIED_UNITS) {
    const fitting = fittingOf(price.variants[unit] ?? [], made, unit);
    if (fitting.length > 0) units[unit] = maxPriceOf(fitting);
  }
  const varied = (of: UnitPrices): UnitPrices => ({ ...of, ...units });
  return {
    ...price,
    units: varied(price.units),
    tiers: price.tiers.map((tier) => ({ ...tier, units: varied(tier.units) })),
  };
}

export function maxPriceOf(variants: readonly VariantPrice[]): bigint {
  return variants.reduce((most, { price }) => (price > most ? price : most), 0n);
}

/**
 * The member of a variant that a model has no price for; undefined: it has one. A plain number is the price of the
 * vendor's default size and quality alone, unless the model says `sizes: any`.
 */
export function unpricedMember(
  { price, sizes }: Pick<Model, 'price' | 'sizes'>,
  unit: VariedUnit,
  asked: Variant,
): keyof Variant | undefined {
  if (sizes === 'any' || !price.named.has(unit)) return undefined;
  const variants = price.variants?.[unit] ?? [{ price: price.units[unit] }];
  if (fittingOf(variants, asked, unit).length > 0) return undefined;
  const { size } = asked;
  return size === undefined || fittingOf(variants, { size }, unit).length > 0 ? 'quality' : 'size';
}

/** The variants that the output can be. An unknown size or quality can be any. */
function fittingOf(variants: readonly VariantPrice[], made: Variant, unit: VariedUnit): VariantPrice[] {
  const fits = (variant: Variant, member: keyof Variant) =>
    made[member] === undefined || made[member] === (variant[member] ?? DEFAULTS[unit][member]);
  return variants.filter((variant) => fits(variant, 'size') && fits(variant, 'quality'));
}

/**
 * The variant that was made: the answer's report if the price has a variant for it, else what the request asks for.
 */
export function madeVariant(price: Price, asked: Variant, reported: Variant): Variant {
  const made = { ...asked, ...reported };
  const isPriced = VARIED_UNITS.some(
    (unit) => fittingOf(price.variants?.[unit] ?? [], made, unit).length > 0,
  );
  return isPriced ? made : asked;
}
