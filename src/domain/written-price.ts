import type { Price, Variant } from './catalog.ts';
import { priceInCredits, TIMES_ONE } from './price.ts';
import { UNIT_NAMES, type Unit } from './units.ts';

/**
 * The price of a unit as written in a config file, in credits with six decimals; a list if the input's length counts,
 * and by `size/quality` if what is made does.
 */
export type WrittenUnit =
  | string
  | readonly { readonly above?: number; readonly price: string }[]
  | Readonly<Record<string, string>>;

/** Whether a written price depends on size or quality. */
export function isByVariant(written: WrittenUnit): written is Readonly<Record<string, string>> {
  return typeof written === 'object' && !Array.isArray(written);
}

/** The key of a variant in a config file. */
export function variantKey({ size, quality }: Variant): string {
  return [size, quality].filter((part) => part !== undefined).join('/');
}

/** A price as written in a config file: the units that it names, in the order of units.ts. */
export function writtenPrice({
  units,
  tiers,
  named,
  variants,
}: Price): Readonly<Partial<Record<Unit, WrittenUnit>>> {
  const written: { [U in Unit]?: WrittenUnit } = {};
  for (const unit of UNIT_NAMES) {
    if (!named.has(unit)) continue;
    const varied = variants?.[unit];
    if (varied) {
      const entries = varied.map((one) => [variantKey(one), priceInCredits(unit, one.price)]);
      written[unit] = Object.fromEntries(entries);
      continue;
    }
    let price = units[unit];
    const steps: { above?: number; price: string }[] = [{ price: priceInCredits(unit, price) }];
    for (const tier of tiers) {
      if (tier.units[unit] === price) continue;
      price = tier.units[unit];
      steps.push({ above: tier.above, price: priceInCredits(unit, price) });
    }
    written[unit] = steps.length === 1 ? (steps[0]?.price ?? '') : steps;
  }
  return written;
}

/** Multipliers of service tiers by their names, as they stand in a config file. */
export function writtenTiers({ serviceTiers }: Price): Readonly<Record<string, number>> {
  return Object.fromEntries([...serviceTiers].map(([tier, millionths]) => [tier, millionths / TIMES_ONE]));
}
