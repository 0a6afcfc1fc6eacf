import type { Price } from './catalog.ts';
import { creditsString, MAX_CREDITS, type Micro, micro, microFromCredits } from './credits.ts';
import { shiftDecimal } from './decimal.ts';
import type { Usage } from './ledger-entry.ts';

/**
 * The arithmetic of charges. It is done in integers, from the config file to the charge:
 *
 * - A price is pico-credits (10^-12 credit) per unit. Six decimals of a price per 1,000,000 tokens are exactly
 *   pico-credits per token, so no price that the config can state is rounded.
 * - Seconds may be fractions. They are counted in microseconds, a part of a microsecond as a whole one.
 * - The sum over units is therefore kept in atto-credits (10^-18 credit: pico-credits × millionths of a unit) and
 *   rounded up once, at the end, to a micro-credit (specification section 1).
 */
const ATTO_PER_MICRO = 10n ** 12n;
const PICO_PER_MICRO = 10n ** 6n;
const PICO_IN_MICRO = Number(PICO_PER_MICRO);
const MILLIONTHS = 10n ** 6n;

type Unit = keyof Price;

/** Units whose configured price is for 1,000,000 of them; the others are priced one by one. */
const PRICED_PER_MILLION: ReadonlySet<Unit> = new Set<Unit>([
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'character',
]);

/** What is counted in whole units, and the price that it is charged at. */
const COUNTED = [
  ['input', 'input'],
  ['output', 'output'],
  ['cachedInput', 'cachedInput'],
  ['cacheWrite', 'cacheWrite'],
  ['characters', 'character'],
  ['images', 'image'],
  ['requests', 'request'],
] as const satisfies readonly (readonly [keyof Usage, Unit])[];

const TIMED = [
  ['audioSeconds', 'audioSecond'],
  ['videoSeconds', 'videoSecond'],
] as const satisfies readonly (readonly [keyof Usage, Unit])[];

/** A model that costs nothing (`free: true`). */
export const FREE_PRICE: Price = Object.freeze({
  input: 0n,
  output: 0n,
  cachedInput: 0n,
  cacheWrite: 0n,
  character: 0n,
  image: 0n,
  audioSecond: 0n,
  videoSecond: 0n,
  request: 0n,
});

/**
 * A configured price as pico-credits per unit. `credits` is per 1,000,000 tokens or characters, else per unit.
 * Undefined where it is negative, not finite, above MAX_CREDITS, or has more than six decimals.
 */
export function priceFromCredits(unit: Unit, credits: number): bigint | undefined {
  if (!(credits >= 0 && credits <= MAX_CREDITS)) return undefined;
  const amount = microFromCredits(credits);
  if (amount === undefined) return undefined;
  // Micro-credits per 1,000,000 units and pico-credits per unit are the same number.
  return PRICED_PER_MILLION.has(unit) ? BigInt(amount) : BigInt(amount) * PICO_PER_MICRO;
}

/** The price as it stands in a config file, with six decimals: the inverse of `priceFromCredits`. */
export function priceInCredits(unit: Unit, price: bigint): string {
  return creditsString(micro(Number(PRICED_PER_MILLION.has(unit) ? price : price / PICO_PER_MICRO)));
}

/** Whether anything at all is charged at this price. */
export function isPriced(price: Price): boolean {
  return Object.values(price).some((perUnit: bigint) => perUnit > 0n);
}

/**
 * What the usage costs, rounded up once to a micro-credit. Throws RangeError on usage that is negative, not finite,
 * or a fraction of anything but a second (the readers of usage must not let it come this far), and where the charge
 * would not be a safe integer.
 */
export function chargeFor(price: Price, usage: Usage): Micro {
  return micro(smallMicros(listsOf(price).charge, usage) ?? Number(microsFor(price, usage)));
}

/**
 * The most that a call with at most this usage costs: a request, with its input priced in the dearest way. A request can
 * name bounds without end (`max_tokens`, `n`); then it is 2^53 − 1 micro-credits, which no account has and no limit allows.
 */
export function holdFor(price: Price, usage: Usage): Micro {
  const bounded: Usage = { ...usage, requests: 1 };
  const small = smallMicros(listsOf(price).hold, bounded);
  if (small !== undefined) return micro(small);
  for (const [used] of COUNTED) bounded[used] = Math.min(bounded[used] ?? 0, Number.MAX_SAFE_INTEGER);
  const micros = microsFor(dearest(price), bounded);
  return micro(Math.min(Number(micros), Number.MAX_SAFE_INTEGER));
}

function dearest(price: Price): Price {
  const input = [price.input, price.cachedInput, price.cacheWrite].reduce((a, b) => (a > b ? a : b));
  return { ...price, input };
}

/** Prices of what is counted in whole units, as numbers, in the order of COUNTED. */
type PriceList = readonly number[];

const LISTS = new WeakMap<Price, { charge: PriceList; hold: PriceList }>();

function listsOf(price: Price): { charge: PriceList; hold: PriceList } {
  const known = LISTS.get(price);
  if (known) return known;
  const list = (of: Price) => COUNTED.map(([, unit]) => Number(of[unit]));
  const lists = { charge: list(price), hold: list(dearest(price)) };
  LISTS.set(price, lists);
  return lists;
}

/**
 * The same as `microsFor`, without a big integer: numbers are exact as long as the sum is a safe integer, which it is up
 * to 9,007 credits. Undefined where it is more, and for usage that is timed, or wrong.
 */
function smallMicros(list: PriceList, usage: Usage): number | undefined {
  if (usage.audioSeconds !== undefined || usage.videoSeconds !== undefined) return undefined;
  let pico = 0;
  for (let index = 0; index < COUNTED.length; index++) {
    const count = usage[(COUNTED[index] as (typeof COUNTED)[number])[0]];
    if (count === undefined) continue;
    if (!(Number.isSafeInteger(count) && count >= 0)) return undefined;
    pico += count * (list[index] as number);
  }
  if (pico > Number.MAX_SAFE_INTEGER) return undefined;
  // The quotient's error is below 2^-20, and a sum that is no whole micro-credit is 10^-6 away from one at least.
  return Math.ceil(pico / PICO_IN_MICRO);
}

/** Micro-credits, rounded up, however many. */
function microsFor(price: Price, usage: Usage): bigint {
  let atto = 0n;
  for (const [used, unit] of COUNTED) {
    const count = usage[used];
    if (count !== undefined) atto += wholeUnits(used, count) * MILLIONTHS * price[unit];
  }
  for (const [used, unit] of TIMED) {
    const seconds = usage[used];
    if (seconds !== undefined) atto += microseconds(used, seconds) * price[unit];
  }
  return (atto + ATTO_PER_MICRO - 1n) / ATTO_PER_MICRO;
}

function wholeUnits(name: string, count: number): bigint {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`not a count of ${name}: ${count}`);
  return BigInt(count);
}

function microseconds(name: string, seconds: number): bigint {
  const shifted = seconds >= 0 ? shiftDecimal(seconds, 6) : undefined;
  if (!shifted) throw new RangeError(`not a number of ${name}: ${seconds}`);
  return shifted.exact ? shifted.whole : shifted.whole + 1n;
}
