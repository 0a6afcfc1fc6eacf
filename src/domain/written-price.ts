import type { Price } from './catalog.ts';
import { priceInCredits, TIMES_ONE } from './price.ts';
import { UNIT_NAMES, type Unit } from './price-units.ts';

/** The price of a unit as it stands in a config file, in credits with six decimals; a list where the input's length counts. */
export type WrittenUnit = string | readonly { readonly above?: number; readonly price: string }[];

/** A price as it stands in a config file: the units that it names, in the order of price-units.ts. */
export function writtenPrice({ units, tiers, named }: Price): Readonly<Partial<Record<Unit, WrittenUnit>>> {
  const written: { [U in Unit]?: WrittenUnit } = {};
  for (const unit of UNIT_NAMES) {
    if (!named.has(unit)) continue;
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
