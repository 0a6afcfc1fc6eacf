import type { Price } from '../../src/domain/catalog.ts';
import { priceFromCredits, priceOf } from '../../src/domain/price.ts';
import type { Unit } from '../../src/domain/units.ts';

/** A price from credits by unit, as a config file has them; throws where a config file could not. */
export function creditPrice(
  credits: Partial<Record<Unit, number>>,
  serviceTiers: Readonly<Record<string, number>> = {},
): Price {
  const units: { [U in Unit]?: bigint } = {};
  for (const [unit, amount] of Object.entries(credits)) {
    const pico = priceFromCredits(unit as Unit, amount);
    if (pico === undefined) throw new Error(`no price of ${unit}: ${amount}`);
    units[unit as Unit] = pico;
  }
  const millionths = Object.entries(serviceTiers).map(([tier, times]) => [tier, times * 1e6] as const);
  return priceOf(units, { serviceTiers: new Map(millionths) });
}
