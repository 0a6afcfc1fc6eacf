import type { LengthTier, Price, UnitPrices } from './catalog.ts';
import { creditsString, MAX_CREDITS, type Micro, micro, microFromCredits, shiftDecimal } from './credits.ts';
import type { AppliedUnits } from './ledger-entry.ts';
import { inputTokens, UNIT_NAMES, UNITS, type Unit, type Usage, unitRow } from './units.ts';

/**
 * The arithmetic of charges, in integers from the config file to the charge:
 *
 * - A price is pico-credits (10^-12 credit) per unit. Six decimals of a price per 1,000,000 tokens are exactly
 *   pico-credits per token, so no price that the config can state is rounded.
 * - Seconds may be fractions. They are counted in microseconds, a part of a microsecond as a whole one.
 * - A multiplier is a whole number of millionths. Fees for each use are not multiplied.
 * - The sum over units is therefore kept in 10^-24 credit (pico-credits × millionths of a unit × millionths) and rounded up
 *   once, at the end, to a micro-credit (specification sections 1 and 10).
 */
const SCALED_PER_MICRO = 10n ** 18n;
const PICO_PER_MICRO = 10n ** 6n;
const PICO_IN_MICRO = Number(PICO_PER_MICRO);
const MILLIONTHS = 10n ** 6n;

/** A multiplier of 1. */
export const TIMES_ONE = 1_000_000;

/** The unit that charges each dimension of usage. */
const UNIT_OF = Object.fromEntries(UNIT_NAMES.map((unit) => [UNITS[unit].usage, unit])) as Readonly<
  Record<keyof Usage, Unit>
>;
const FEES = unitsWhere(({ isFee }) => isFee);
const TIMED = unitsWhere(({ isTimed }) => isTimed === true);
const TOKENS = [...unitsWhere(({ tokens }) => tokens !== null)];
/** Units that any call counted in tokens can be charged by, and so are in every hold. */
const ANY_INPUT = [
  ...unitsWhere((row) => row.tokens !== null && row.tokens !== 'output' && row.by === 'any'),
];
const ANY_OUTPUT = [...unitsWhere((row) => row.tokens === 'output' && row.by === 'any')];
/** Dimensions of usage, in the order of UNIT_NAMES. */
const DIMENSIONS = UNIT_NAMES.map((unit) => UNITS[unit].usage);

function unitsWhere(fits: (row: ReturnType<typeof unitRow>) => boolean): ReadonlySet<Unit> {
  return new Set(UNIT_NAMES.filter((unit) => fits(unitRow(unit))));
}

/** Pico-credits per unit for each micro-credit of a config price. */
function picoPerMicro(unit: Unit): bigint {
  return PICO_PER_MICRO / BigInt(UNITS[unit].per);
}

/** Prices of every unit; missing units take the price of the unit they refine. */
function resolveUnits(given: Partial<UnitPrices>): UnitPrices {
  const units: Partial<Record<Unit, bigint>> = {};
  for (const unit of UNIT_NAMES) {
    const { refines } = unitRow(unit);
    units[unit] = given[unit] ?? (refines === undefined ? 0n : (units[refines] as bigint));
  }
  return Object.freeze(units as UnitPrices);
}

/** A price from the units of a config file or a list. `tiers` name what differs from the tier below. */
export function priceOf(
  given: Partial<UnitPrices>,
  more: {
    readonly tiers?: readonly { readonly above: number; readonly units: Partial<UnitPrices> }[];
    readonly serviceTiers?: ReadonlyMap<string, number>;
    readonly variants?: Price['variants'] | undefined;
  } = {},
): Price {
  let below = given;
  const tiers = [...(more.tiers ?? [])]
    .sort((a, b) => a.above - b.above)
    .map(({ above, units }): LengthTier => {
      below = { ...below, ...units };
      return Object.freeze({ above, units: resolveUnits(below) });
    });
  return Object.freeze({
    units: resolveUnits(given),
    tiers,
    named: new Set(UNIT_NAMES.filter((unit) => below[unit] !== undefined)),
    serviceTiers: more.serviceTiers ?? new Map(),
    ...(more.variants ? { variants: more.variants } : {}),
  });
}

/** A model that costs nothing (`free: true`). */
export const FREE_PRICE: Price = priceOf({});

/**
 * A configured price as pico-credits per unit. `credits` is for as many units as units.ts says.
 * Undefined if it is negative, not finite, above MAX_CREDITS, or has more than six decimals.
 */
export function priceFromCredits(unit: Unit, credits: number): bigint | undefined {
  if (!(credits >= 0 && credits <= MAX_CREDITS)) return undefined;
  const amount = microFromCredits(credits);
  return amount === undefined ? undefined : priceFromMicros(unit, BigInt(amount));
}

/** A price in whole micro-credits for as many units as units.ts says, as pico-credits per unit. */
export function priceFromMicros(unit: Unit, micros: bigint): bigint {
  return micros * picoPerMicro(unit);
}

/** A unit price in micro-credits for as many units as a config file's price is for. */
export function priceInMicros(unit: Unit, price: bigint): Micro {
  return micro(Number(price / picoPerMicro(unit)));
}

/** Price as written in a config file, with six decimals: the inverse of `priceFromCredits`. */
export function priceInCredits(unit: Unit, price: bigint): string {
  return creditsString(priceInMicros(unit, price));
}

/** True if this price charges anything. */
export function isPriced(price: Price): boolean {
  return [price.units, ...price.tiers.map(({ units }) => units)].some((units) =>
    UNIT_NAMES.some((unit) => units[unit] > 0n),
  );
}

/** True if this price charges for tokens. */
export function isPricedByToken({ units }: Price): boolean {
  return TOKENS.some((unit) => units[unit] > 0n);
}

/** Unit prices of the length tier that a usage reaches. They apply to the whole request. */
export function unitsFor(price: Price, usage: Usage): UnitPrices {
  if (price.tiers.length === 0) return price.units;
  const tokens = inputTokens(usage);
  return price.tiers.findLast(({ above }) => tokens > above)?.units ?? price.units;
}

/**
 * Multiplier of an answer's service tiers, in millionths, rounded up. A tier without a multiplier counts as 1, as does
 * an answer without a tier.
 */
export function multiplierOf(price: Price, serviceTiers: readonly string[]): number {
  let multiplier = TIMES_ONE;
  for (const tier of serviceTiers) {
    const times = price.serviceTiers.get(tier);
    if (times !== undefined) multiplier = Math.ceil((multiplier * times) / TIMES_ONE);
  }
  return multiplier;
}

/**
 * Charge for a usage, rounded up once to a micro-credit. `multiplier` is that of `multiplierOf`. Throws RangeError on
 * usage that is negative, not finite, or a fraction of anything but a second (the readers of usage must not let it come
 * this far), and if the charge would not be a safe integer.
 */
export function chargeFor(price: Price, usage: Usage, multiplier = TIMES_ONE): Micro {
  return chargeForParts([{ usage, units: unitsFor(price, usage) }], multiplier);
}

/** A usage, or a part of it, with the unit prices of its length tier. */
export interface PricedPart {
  readonly usage: Usage;
  readonly units: UnitPrices;
}

/** As `chargeFor`, for parts in different length tiers: rounded up once. */
export function chargeForParts(parts: readonly PricedPart[], multiplier: number): Micro {
  const [only, ...others] = parts;
  const isPlain = only !== undefined && others.length === 0 && multiplier === TIMES_ONE;
  return micro(
    (isPlain ? smallMicros(numbersOf(only.units), only.usage) : undefined) ??
      Number(microsOf(parts, multiplier)),
  );
}

/** Unit prices of the used units, as stored in a ledger row. */
export function appliedUnits(units: UnitPrices, usage: Usage): AppliedUnits {
  const applied: { [U in Unit]?: Micro } = {};
  for (const used in usage) {
    const unit = UNIT_OF[used as keyof Usage];
    if (usage[used as keyof Usage]) applied[unit] = priceInMicros(unit, units[unit]);
  }
  return applied;
}

/** Units and multiplier that a request may be billed at beyond plain text at the plain price. */
export interface BillableUnits {
  /** Units, besides those that any call can be charged by, that a token of the input can be charged at. */
  readonly input?: readonly Unit[];
  /** Units, besides those that any call can be charged by, that a token of the output can be charged at. */
  readonly output?: readonly Unit[];
  /** The highest multiplier, in millionths. */
  readonly multiplier?: number;
  /** Input tokens that decide the length tier, if they are not those of the usage. */
  readonly longest?: number;
}

const PLAIN: BillableUnits = Object.freeze({});

/**
 * Upper bound of the cost of a call with at most this usage: one request, unless the usage has a count, with tokens at
 * the most expensive unit and length tier that it can reach. A request's own bounds (`max_tokens`, `n`) can be
 * arbitrarily high; the result is then 2^53 − 1 micro-credits, more than any account has or any limit allows.
 */
export function holdFor(price: Price, usage: Usage, reach: BillableUnits = PLAIN): Micro {
  const bounded: Usage = { requests: 1, ...usage };
  const multiplier = reach.multiplier ?? TIMES_ONE;
  if (price.tiers.length === 0 && reach.input === undefined && reach.output === undefined) {
    const small = multiplier === TIMES_ONE ? smallMicros(plainHoldNumbers(price.units), bounded) : undefined;
    if (small !== undefined) return micro(small);
  }
  capCounts(bounded);
  const tokens = reach.longest ?? inputTokens(bounded);
  const reached = [price.units];
  for (const { above, units } of price.tiers) if (tokens > above) reached.push(units);
  const micros = reached.map((units) => microsFor(maxPrices(units, reach), bounded, multiplier));
  const most = micros.reduce((a, b) => (a > b ? a : b));
  return micro(Math.min(Number(most), Number.MAX_SAFE_INTEGER));
}

/**
 * Cost of a call with this usage, including the price per request, at the length tier that it reaches. For estimates:
 * at most 2^53 − 1 micro-credits, however high the counts.
 */
export function plainCost(price: Price, usage: Usage): Micro {
  const counted: Usage = { ...usage, requests: 1 };
  const small = smallMicros(numbersOf(unitsFor(price, counted)), counted);
  if (small !== undefined) return micro(small);
  capCounts(counted);
  const micros = microsFor(unitsFor(price, counted), counted, TIMES_ONE);
  return micro(Math.min(Number(micros), Number.MAX_SAFE_INTEGER));
}

/** Caps counts at integers that a number holds exactly. */
function capCounts(usage: Usage): void {
  for (const unit of UNIT_NAMES) {
    const used = UNITS[unit].usage;
    if (usage[used] !== undefined && !TIMED.has(unit))
      usage[used] = Math.min(usage[used], Number.MAX_SAFE_INTEGER);
  }
}

function maxPrices(units: UnitPrices, { input = [], output = [] }: BillableUnits): UnitPrices {
  const most = (of: readonly Unit[]) => of.map((unit) => units[unit]).reduce((a, b) => (a > b ? a : b));
  return { ...units, input: most([...ANY_INPUT, ...input]), output: most([...ANY_OUTPUT, ...output]) };
}

/** Prices as numbers, in the order of UNIT_NAMES. */
type PriceNumbers = readonly number[];

const NUMBERS = new WeakMap<UnitPrices, PriceNumbers>();
const HOLD_NUMBERS = new WeakMap<UnitPrices, PriceNumbers>();

function numbersOf(units: UnitPrices): PriceNumbers {
  const known = NUMBERS.get(units);
  if (known) return known;
  const numbers = UNIT_NAMES.map((unit) => Number(units[unit]));
  NUMBERS.set(units, numbers);
  return numbers;
}

function plainHoldNumbers(units: UnitPrices): PriceNumbers {
  const known = HOLD_NUMBERS.get(units);
  if (known) return known;
  const numbers = numbersOf(maxPrices(units, PLAIN));
  HOLD_NUMBERS.set(units, numbers);
  return numbers;
}

/**
 * Micro-credits as `microsFor` counts them at multiplier 1, without a big integer: numbers are exact as long as the sum
 * is a safe integer, which it is up to 9,007 credits. Undefined if it is more, and for fractions of a second and wrong
 * usage.
 */
function smallMicros(numbers: PriceNumbers, usage: Usage): number | undefined {
  let pico = 0;
  for (let index = 0; index < DIMENSIONS.length; index++) {
    const count = usage[DIMENSIONS[index] as keyof Usage];
    if (count === undefined) continue;
    if (!(Number.isSafeInteger(count) && count >= 0)) return undefined;
    pico += count * (numbers[index] as number);
  }
  if (pico > Number.MAX_SAFE_INTEGER) return undefined;
  // The quotient's error is below 2^-20, and a sum that is no whole micro-credit is 10^-6 away from one at least.
  return Math.ceil(pico / PICO_IN_MICRO);
}

function microsFor(units: UnitPrices, usage: Usage, multiplier: number): bigint {
  return microsOf([{ units, usage }], multiplier);
}

/** Micro-credits, rounded up, however many: usage × price × multiplier, and the fees. */
function microsOf(parts: readonly PricedPart[], multiplier: number): bigint {
  let multiplied = 0n;
  let fees = 0n;
  for (const { usage, units } of parts) {
    for (const unit of UNIT_NAMES) {
      const used = UNITS[unit].usage;
      const amount = usage[used];
      if (amount === undefined) continue;
      const millionths = TIMED.has(unit) ? microseconds(used, amount) : wholeUnits(used, amount) * MILLIONTHS;
      if (FEES.has(unit)) fees += millionths * units[unit];
      else multiplied += millionths * units[unit];
    }
  }
  const sum = multiplied * BigInt(multiplier) + fees * MILLIONTHS;
  return (sum + SCALED_PER_MICRO - 1n) / SCALED_PER_MICRO;
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
