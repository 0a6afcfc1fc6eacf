import type { Price, VariantPrice } from '../domain/catalog.ts';
import { MAX_CREDITS, shiftDecimal } from '../domain/credits.ts';
import { priceFromCredits, priceOf } from '../domain/price.ts';
import {
  entries,
  type Faults,
  type Field,
  numberOf,
  optional,
  type Reader,
  reader,
  section,
} from '../domain/shape.ts';
import { UNIT_NAMES, UNITS, type Unit } from '../domain/units.ts';
import { maxPriceOf, VARIED_UNITS, variantOf } from '../domain/variants.ts';
import { orReference } from './references.ts';

/** More tokens than any model reads. */
const MAX_ABOVE = 1_000_000_000;
const MAX_MULTIPLIER = 1_000;
const NOT_A_PRICE = 'must be a number of credits, 0 or more, with at most six decimals';

/** A unit's price, in pico-credits per unit: a base price, and prices above numbers of input tokens. */
interface UnitPrice {
  readonly base: bigint;
  readonly above: readonly { readonly above: number; readonly price: bigint }[];
  /** By size and quality; `base` is then the highest. */
  readonly variants?: readonly VariantPrice[];
}

const AMOUNT = orReference({ type: 'number', minimum: 0, maximum: MAX_CREDITS });
const TIERS = {
  type: 'array',
  minItems: 2,
  items: {
    type: 'object',
    required: ['price'],
    properties: { above: { type: 'integer', minimum: 1, maximum: MAX_ABOVE }, price: AMOUNT },
    additionalProperties: false,
  },
};

const VARIANTS = { type: 'object', minProperties: 1, additionalProperties: AMOUNT };

function amountOf(unit: Unit, value: unknown, path: string, faults: Faults): bigint | undefined {
  const read = numberOf(value);
  const price = typeof read === 'number' ? priceFromCredits(unit, read) : undefined;
  return price ?? faults.add(path, NOT_A_PRICE);
}

/**
 * Reads a number, or a list of length tiers. A key without a value (`input:`) is a fault: it would make that unit free.
 */
function unitPrice(unit: Unit, description: string): Field<UnitPrice | undefined> {
  const isVaried = VARIED_UNITS.some((varied) => varied === unit);
  const schema = { anyOf: [AMOUNT, TIERS, ...(isVaried ? [VARIANTS] : [])] };
  const read: Reader<UnitPrice> = reader(schema, (value, path, faults) => {
    if (isVaried && value instanceof Map) return variedPrice(unit, value, path, faults);
    if (Array.isArray(value)) return tieredPrice(unit, value, path, faults);
    const base = amountOf(unit, value, path, faults);
    return base === undefined ? undefined : { base, above: [] };
  });
  return { ...optional(read, undefined, description), readsBlank: true };
}

/** Reads prices by `size`, `quality` or `size/quality`. */
function variedPrice(
  unit: Unit,
  given: ReadonlyMap<unknown, unknown>,
  path: string,
  faults: Faults,
): UnitPrice | undefined {
  const before = faults.lines.length;
  const variants = [...given].map(([key, value]): VariantPrice => {
    const at = `${path}.${String(key)}`;
    const variant = variantOf(String(key));
    if (!variant)
      faults.add(at, 'must be a size, a quality or both, such as 1024x1024, high or 1024x1024/high');
    return { ...variant, price: amountOf(unit, value, at, faults) ?? 0n };
  });
  if (variants.length === 0) return faults.add(path, NOT_A_PRICE);
  return faults.lines.length === before ? { base: maxPriceOf(variants), above: [], variants } : undefined;
}

function tieredPrice(
  unit: Unit,
  given: readonly unknown[],
  path: string,
  faults: Faults,
): UnitPrice | undefined {
  const before = faults.lines.length;
  const tiers = given.map((tier, index) => {
    const at = `${path}[${index}]`;
    const read = tier instanceof Map ? (tier as Map<unknown, unknown>) : new Map<unknown, unknown>();
    for (const key of read.keys()) {
      if (key !== 'above' && key !== 'price')
        faults.add(`${at}.${String(key)}`, 'is not a setting; supported: above, price');
    }
    const above = read.get('above');
    if (index === 0 && above !== undefined) {
      faults.add(`${at}.above`, 'must not be set in the first entry, which prices the shortest requests');
    }
    const isBound = Number.isInteger(above) && Number(above) >= 1 && Number(above) <= MAX_ABOVE;
    if (index > 0 && !isBound)
      faults.add(`${at}.above`, `must be a whole number of input tokens from 1 to ${MAX_ABOVE}`);
    return {
      above: Number(above ?? 0),
      price: amountOf(unit, read.get('price'), `${at}.price`, faults) ?? 0n,
    };
  });
  const [base, ...above] = tiers;
  if (!base || above.length === 0)
    return faults.add(
      path,
      'must be a number or a list of at least two prices: [{ price: 2 }, { above: 272000, price: 4 }]',
    );
  const isAscending = above.every((tier, index) => tier.above > (above[index - 1]?.above ?? 0));
  if (faults.lines.length === before && !isAscending)
    faults.add(path, 'must list its entries by ascending above');
  return faults.lines.length === before ? { base: base.price, above } : undefined;
}

const priceSection = section(
  Object.fromEntries(
    UNIT_NAMES.map((unit) => {
      const { per, help } = UNITS[unit];
      const many = per === 1 ? '' : `${per.toLocaleString('en')} `;
      return [unit, unitPrice(unit, `Per ${many}${help.price}`)];
    }),
  ) as Record<Unit, ReturnType<typeof unitPrice>>,
);

/** `price` of a model: unit prices by input length (specification section 10). The model adds multipliers. */
export const priceReader: Reader<Price> = reader(
  { ...priceSection.schema, minProperties: 1 },
  (value, path, faults) => {
    const read = priceSection(value, path, faults);
    if (!read) return undefined;
    const named = UNIT_NAMES.flatMap((unit) => (read[unit] ? [[unit, read[unit]] as const] : []));
    const starts = [...new Set(named.flatMap(([, { above }]) => above.map((tier) => tier.above)))];
    const varied = named.flatMap(([unit, { variants }]) => (variants ? [[unit, variants] as const] : []));
    return priceOf(Object.fromEntries(named.map(([unit, { base }]) => [unit, base])), {
      ...(varied.length > 0 ? { variants: Object.fromEntries(varied) } : {}),
      tiers: starts.map((start) => ({
        above: start,
        units: Object.fromEntries(
          named.flatMap(([unit, { above }]) =>
            above.filter((tier) => tier.above === start).map((tier) => [unit, tier.price]),
          ),
        ),
      })),
    });
  },
);

/** A number with at most six decimals as millionths, from `least` to `most`. */
function millionths(least: number, most: number): Reader<number> {
  return reader(orReference({ type: 'number', minimum: least, maximum: most }), (value, path, faults) => {
    const read = numberOf(value);
    const shifted =
      typeof read === 'number' && read >= least && read <= most ? shiftDecimal(read, 6) : undefined;
    if (!shifted?.exact)
      return faults.add(path, `must be a number from ${least} to ${most} with at most six decimals`);
    return Number(shifted.whole);
  });
}

/** `serviceTiers` of a model: multipliers in millionths by tier. */
export const serviceTiersReader: Reader<Map<string, number>> = entries(millionths(0, MAX_MULTIPLIER));

/** `markup`: factor for list prices, in millionths. Not 0, which would give everything away. */
export const markupReader: Reader<number> = millionths(0.000001, MAX_MULTIPLIER);

/** `creditsPerUsd`, in millionths. */
export const creditsPerUsdReader: Reader<number> = millionths(0.000001, 1_000_000);
