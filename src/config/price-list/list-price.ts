import type { Price, UnitPrices } from '../../domain/catalog.ts';
import { MAX_BALANCE } from '../../domain/credits.ts';
import { shiftDecimal } from '../../domain/decimal.ts';
import { isPriced, priceFromMicros, priceOf } from '../../domain/price.ts';
import { UNIT_NAMES, UNITS, type Unit } from '../../domain/units.ts';
import type { ListPrices, TieredPrice } from './list-data.ts';
import { type ListKey, listKey } from './list-keys.ts';

/** What turns US dollars of the list into credits, both in millionths. */
export interface Exchange {
  readonly creditsPerUsd: number;
  readonly markup: number;
}

/** Thrown where a price of the list cannot be charged exactly; its message says why. */
export class NotExpressible extends Error {}

/** Decimals that a price of the list is read with; it has at most 17 digits that count. */
const LIST_DECIMALS = 30;
const DIVISOR = 10n ** BigInt(LIST_DECIMALS + 12);
const MICRO = 1_000_000n;

/**
 * A price in US dollars as pico-credits per unit: × creditsPerUsd × markup in integers from the decimal text of the number,
 * and rounded up once, to a micro-credit for as many units as a config file's price is for (specification section 10).
 */
export function exchanged(usd: number, { unit, per }: ListKey, exchange: Exchange): bigint {
  const shifted = usd >= 0 ? shiftDecimal(usd, LIST_DECIMALS) : undefined;
  if (!shifted) throw new NotExpressible(`${usd} is no price`);
  const whole = shifted.exact ? shifted.whole : shifted.whole + 1n;
  const dividend =
    whole * BigInt(UNITS[unit].per) * BigInt(exchange.creditsPerUsd) * BigInt(exchange.markup) * MICRO;
  const divisor = DIVISOR * BigInt(per);
  const micros = (dividend + divisor - 1n) / divisor;
  if (micros > BigInt(MAX_BALANCE))
    throw new NotExpressible(`${usd} US dollars are more than a price can be`);
  return priceFromMicros(unit, micros);
}

/** A unit's price by the length of the input: from each bound on, itself excluded; the first is that of the shortest. */
type Steps = ReadonlyMap<number, bigint>;
const SHORTEST = -1;

function stepsOf(value: number | TieredPrice, key: ListKey, exchange: Exchange): Steps {
  if (typeof value === 'number') return new Map([[SHORTEST, exchanged(value, key, exchange)]]);
  const tiers = value.tiers.map(
    ({ start, price }) => [boundOf(start), exchanged(price, key, exchange)] as const,
  );
  return new Map([[SHORTEST, exchanged(value.base, key, exchange)], ...tiers]);
}

/**
 * The number of tokens that a tier begins beyond. The list has both `start: 272000` and `start: 271999` for prices that vendors
 * name "more than 272,000 tokens": a start that ends in 999 is meant to be reached.
 */
function boundOf(start: number): number {
  return start % 1_000 === 999 ? start + 1 : start;
}

function at(steps: Steps, bound: number): bigint {
  const reached = [...steps.keys()].filter((start) => start <= bound);
  return steps.get(Math.max(...reached)) ?? 0n;
}

function dearestSteps(all: readonly Steps[]): Steps {
  const bounds = [...new Set(all.flatMap((steps) => [...steps.keys()]))].sort((a, b) => a - b);
  return new Map(bounds.map((bound) => [bound, dearest(all.map((steps) => at(steps, bound)))]));
}

function dearest(prices: readonly bigint[]): bigint {
  return prices.reduce((a, b) => (a > b ? a : b));
}

/** Prices of the list as a price of ours. Throws NotExpressible where they name something that no unit charges as dear. */
export function priceOfList(prices: ListPrices, exchange: Exchange): Price {
  const named = new Map<Unit, Steps[]>();
  const others: { readonly key: string; readonly as: Unit; readonly value: number | TieredPrice }[] = [];
  for (const [key, value] of Object.entries(prices)) {
    const found = listKey(key);
    if (found === 'never incurred') continue;
    if (found === 'unknown') throw new NotExpressible(`it has ${key}, which no unit of ours charges`);
    if ('as' in found) others.push({ key, as: found.as, value });
    else {
      const steps = named.get(found.charged.unit) ?? [];
      named.set(found.charged.unit, [...steps, stepsOf(value, found.charged, exchange)]);
    }
  }
  const units = new Map([...named].map(([unit, all]) => [unit, dearestSteps(all)]));
  const price = priceOfSteps(units);
  for (const { key, as, value } of others) {
    const steps = stepsOf(value, { unit: as, per: UNITS[as].per }, exchange);
    if (!isSame(price, as, steps)) {
      throw new NotExpressible(
        `it has ${key} at another price than ${as}, and answers do not tell them apart`,
      );
    }
  }
  if (!isPriced(price))
    throw new NotExpressible('it names nothing that a call here can use at a price above 0');
  return price;
}

function priceOfSteps(units: ReadonlyMap<Unit, Steps>): Price {
  const bounds = [...new Set([...units.values()].flatMap((steps) => [...steps.keys()]))];
  const pricesFrom = (bound: number): Partial<UnitPrices> =>
    Object.fromEntries([...units].map(([unit, steps]) => [unit, at(steps, bound)]));
  const tiers = bounds.filter((bound) => bound !== SHORTEST);
  return priceOf(pricesFrom(SHORTEST), {
    tiers: tiers.map((above) => ({ above, units: pricesFrom(above) })),
  });
}

function isSame(price: Price, unit: Unit, steps: Steps): boolean {
  const bounds = [SHORTEST, ...price.tiers.map(({ above }) => above), ...steps.keys()];
  return bounds.every((bound) => unitsFrom(price, bound)[unit] === at(steps, bound));
}

function unitsFrom(price: Price, bound: number): UnitPrices {
  return price.tiers.findLast(({ above }) => above <= bound)?.units ?? price.units;
}

/** The dearest of several prices, unit by unit and length by length: of prices by time of day (specification section 10). */
export function dearestOf(prices: readonly [Price, ...Price[]]): Price {
  const [only, ...more] = prices;
  if (more.length === 0) return only;
  const named = UNIT_NAMES.filter((unit) => prices.some((price) => price.named.has(unit)));
  const pricesFrom = (bound: number): Partial<UnitPrices> =>
    Object.fromEntries(
      named.map((unit) => [unit, dearest(prices.map((price) => unitsFrom(price, bound)[unit]))]),
    );
  const bounds = [...new Set(prices.flatMap(({ tiers }) => tiers.map(({ above }) => above)))];
  return priceOf(pricesFrom(SHORTEST), {
    tiers: bounds.map((above) => ({ above, units: pricesFrom(above) })),
  });
}
