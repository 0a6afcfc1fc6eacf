import type { Price, UnitPrices } from '../../domain/catalog.ts';
import { MAX_BALANCE, shiftDecimal } from '../../domain/credits.ts';
import { isPriced, priceFromMicros, priceOf } from '../../domain/price.ts';
import { UNIT_NAMES, UNITS, type Unit } from '../../domain/units.ts';
import type { ListPrices, TieredPrice } from './list-data.ts';

/** Converts US dollars of the list to credits; both factors in millionths. */
export interface Exchange {
  readonly creditsPerUsd: number;
  readonly markup: number;
}

/** A list price can't be charged exactly; the message says why. */
export class NotExpressible extends Error {}

/** Decimals read of a list price, which has at most 17 significant digits. */
const LIST_DECIMALS = 30;
const DIVISOR = 10n ** BigInt(LIST_DECIMALS + 12);
const MICRO = 1_000_000n;

/**
 * Converts US dollars to pico-credits per unit: × creditsPerUsd × markup in integers from the number's decimal text.
 * Rounds up once, to a micro-credit for the number of units that a config file's price covers (specification section
 * 10).
 */
export function exchanged(usd: number, { unit, per }: ListKey, exchange: Exchange): bigint {
  const shifted = usd >= 0 ? shiftDecimal(usd, LIST_DECIMALS) : undefined;
  if (!shifted) throw new NotExpressible(`${usd} is not a price`);
  const whole = shifted.exact ? shifted.whole : shifted.whole + 1n;
  const dividend =
    whole * BigInt(UNITS[unit].per) * BigInt(exchange.creditsPerUsd) * BigInt(exchange.markup) * MICRO;
  const divisor = DIVISOR * BigInt(per);
  const micros = (dividend + divisor - 1n) / divisor;
  if (micros > BigInt(MAX_BALANCE))
    throw new NotExpressible(`${usd} US dollars are more than a price can be`);
  return priceFromMicros(unit, micros);
}

/** A unit's price by input length: from each bound on, exclusive; the first is that of the shortest. */
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
 * Number of tokens above which a tier begins. The list has both `start: 272000` and `start: 271999` for vendors' "more
 * than 272,000 tokens": a start that ends in 999 is inclusive.
 */
function boundOf(start: number): number {
  return start % 1_000 === 999 ? start + 1 : start;
}

function at(steps: Steps, bound: number): bigint {
  const reached = [...steps.keys()].filter((start) => start <= bound);
  return steps.get(Math.max(...reached)) ?? 0n;
}

function maxSteps(all: readonly Steps[]): Steps {
  const bounds = [...new Set(all.flatMap((steps) => [...steps.keys()]))].sort((a, b) => a - b);
  return new Map(bounds.map((bound) => [bound, maxOf(all.map((steps) => at(steps, bound)))]));
}

function maxOf(prices: readonly bigint[]): bigint {
  return prices.reduce((a, b) => (a > b ? a : b));
}

/** Converts list prices to a Price. Throws NotExpressible for a price that no unit covers in full. */
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
  const units = new Map([...named].map(([unit, all]) => [unit, maxSteps(all)]));
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

/** Highest of several prices, per unit and length, for prices by time of day (specification section 10). */
export function maxPriceOf(prices: readonly [Price, ...Price[]]): Price {
  const [only, ...more] = prices;
  if (more.length === 0) return only;
  const named = UNIT_NAMES.filter((unit) => prices.some((price) => price.named.has(unit)));
  const pricesFrom = (bound: number): Partial<UnitPrices> =>
    Object.fromEntries(
      named.map((unit) => [unit, maxOf(prices.map((price) => unitsFrom(price, bound)[unit]))]),
    );
  const bounds = [...new Set(prices.flatMap(({ tiers }) => tiers.map(({ above }) => above)))];
  return priceOf(pricesFrom(SHORTEST), {
    tiers: bounds.map((above) => ({ above, units: pricesFrom(above) })),
  });
}

/** The unit that a list price charges, and the number of units it covers. */
interface ListKey {
  readonly unit: Unit;
  readonly per: number;
}

const MILLION = 1_000_000;
const HOUR_SECONDS = 3_600;

/**
 * Units by list price name. If several names share a unit, as `audio_hours` and `input_audio_hours`, the highest
 * counts.
 */
const CHARGED: Readonly<Record<string, ListKey>> = {
  input_mtok: { unit: 'input', per: MILLION },
  input_text_mtok: { unit: 'input', per: MILLION },
  cache_read_mtok: { unit: 'cachedInput', per: MILLION },
  cache_text_read_mtok: { unit: 'cachedInput', per: MILLION },
  cache_write_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_write_5m_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_text_write_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_text_write_5m_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_write_1h_mtok: { unit: 'cacheWrite1h', per: MILLION },
  cache_text_write_1h_mtok: { unit: 'cacheWrite1h', per: MILLION },
  output_mtok: { unit: 'output', per: MILLION },
  output_text_mtok: { unit: 'output', per: MILLION },
  input_audio_mtok: { unit: 'inputAudio', per: MILLION },
  cache_audio_read_mtok: { unit: 'cachedInputAudio', per: MILLION },
  output_audio_mtok: { unit: 'outputAudio', per: MILLION },
  input_image_mtok: { unit: 'inputImage', per: MILLION },
  cache_image_read_mtok: { unit: 'cachedInputImage', per: MILLION },
  output_image_mtok: { unit: 'outputImage', per: MILLION },
  input_mchars: { unit: 'character', per: MILLION },
  audio_hours: { unit: 'audioSecond', per: HOUR_SECONDS },
  input_audio_hours: { unit: 'audioSecond', per: HOUR_SECONDS },
  web_searches_kcount: { unit: 'webSearch', per: 1_000 },
  requests_kcount: { unit: 'request', per: 1_000 },
};

/**
 * Prices that no call can incur: tools that search files and the provider's other sources, or run code, are refused
 * without a configured price (specification section 10), and no route re-ranks or reads pages of documents.
 */
const NEVER_INCURRED: ReadonlySet<string> = new Set([
  'storage_searches_kcount',
  'social_searches_kcount',
  'code_executions_kcount',
  'rerank_searches_kcount',
  'input_document_kpages',
  'input_annotated_document_kpages',
]);

/** Tokens that answers count together with others: their price is usable if it equals the price of the others. */
const COUNTED_AS: readonly (readonly [RegExp, Unit])[] = [
  [/^input_audio_tool_mtok$/, 'inputAudio'],
  [/^input_image_tool_mtok$/, 'inputImage'],
  [/^input_(video|video_tool|text_tool|tool)_mtok$/, 'input'],
  [/^cache_video_read_mtok$/, 'cachedInput'],
  [/^cache_(audio|image|video)_write(_5m)?_mtok$/, 'cacheWrite'],
  [/^cache_(audio|image|video)_write_1h_mtok$/, 'cacheWrite1h'],
  [/^output_audio_(reasoning|citation)_mtok$/, 'outputAudio'],
  [/^output_image_(reasoning|citation)_mtok$/, 'outputImage'],
  [/^output_(video|(text_|video_)?(reasoning|citation))_mtok$/, 'output'],
];

/** Unit of a list price: `charged` by it, or counted `as` it. `unknown`: no unit charges it. */
function listKey(
  name: string,
): { readonly charged: ListKey } | { readonly as: Unit } | 'never incurred' | 'unknown' {
  const charged = CHARGED[name];
  if (charged) return { charged };
  if (NEVER_INCURRED.has(name)) return 'never incurred';
  const as = COUNTED_AS.find(([pattern]) => pattern.test(name))?.[1];
  return as === undefined ? 'unknown' : { as };
}
