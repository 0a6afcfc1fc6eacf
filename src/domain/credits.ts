/**
 * Credits as integers. 1 credit = 1,000,000 micro-credits (specification section 5).
 *
 * A `Micro` is a safe integer (below 2^53), never a fraction: it holds balances up to 9,007,199,254
 * credits exactly, both here and in Lua, whose numbers are doubles too. It becomes a decimal only at
 * the edge of the program.
 */
declare const microBrand: unique symbol;
export type Micro = number & { readonly [microBrand]: true };

export const MICRO_PER_CREDIT = 1_000_000;

/**
 * Largest amount that any balance, limit, threshold or price may have, in credits. Not beyond 2^33 = 8,589,934,592,
 * where JSON numbers (doubles) begin to lie further apart than a micro-credit and two amounts would read the same.
 */
export const MAX_CREDITS = 8_500_000_000;

/** MAX_CREDITS in micro-credits: how far from 0 a top-up or an adjustment may take a balance. */
export const MAX_BALANCE = MAX_CREDITS * MICRO_PER_CREDIT;

/** Brands an integer number of micro-credits. Throws RangeError on a fraction or beyond 2^53. */
export function micro(value: number): Micro {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number of micro-credits: ${value}`);
  // -0 would print as "-0" and is refused by Redis' HINCRBY.
  return (value === 0 ? 0 : value) as Micro;
}

/**
 * Reads a JSON number of credits (at most six decimals) without rounding, so 0.1 is 100000. Undefined when it has
 * more decimals, is not finite, or lies beyond ±MAX_CREDITS.
 */
export function microFromCredits(credits: number): Micro | undefined {
  if (!(Math.abs(credits) <= MAX_CREDITS)) return undefined;
  const shifted = shiftDecimal(credits, 6);
  return shifted?.exact ? micro(Number(shifted.whole)) : undefined;
}

/** Six-decimal string, e.g. 12345678 → "12.345678", -1 → "-0.000001". */
export function creditsString(amount: Micro | bigint): string {
  const digits = String(amount).replace('-', '').padStart(7, '0');
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

const MICRO_PER_CENT = 10_000n;

/**
 * An amount as error messages have it: up to 1 credit exact, above it rounded up to two decimals, without trailing zeros.
 * Some clients take 429, 502 and the like inside any number for a status, and repeat the call.
 */
export function creditsInWords(amount: Micro): string {
  // Rounded up, the largest hold is beyond 2^53.
  const cents = (BigInt(amount) + MICRO_PER_CENT - 1n) / MICRO_PER_CENT;
  const shown = amount > MICRO_PER_CREDIT ? cents * MICRO_PER_CENT : amount;
  return creditsString(shown).replace(/\.?0+$/, '');
}

/**
 * The JSON number nearest to the amount. Within ±MAX_CREDITS its text has the amount's own six decimals and
 * `microFromCredits` reads it back exactly.
 */
export function creditsNumber(amount: Micro): number {
  return Number(creditsString(amount));
}

/** What `shiftDecimal` found: the whole part, and whether anything but zeros was cut off behind it. */
interface ShiftedDecimal {
  readonly whole: bigint;
  readonly exact: boolean;
}

/**
 * `value × 10^places` without rounding, read off the shortest decimal text of the number: the digits that a person
 * typed or a provider sent, not the binary fraction nearest to them. So 1.1 moved by six places is exactly 1100000,
 * where `1.1 * 1e6` is a hair more. The whole part is cut towards zero.
 *
 * Undefined for NaN and ±Infinity. `places` is a non-negative integer.
 */
export function shiftDecimal(value: number, places: number): ShiftedDecimal | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!match) return undefined;
  const [, sign, integer = '0', fraction = '', exponent = '0'] = match;
  const digits = integer + fraction;
  const shift = places - fraction.length + Number(exponent);
  const kept = shift >= 0 ? digits : digits.slice(0, shift);
  const cut = shift >= 0 ? '' : digits.slice(shift);
  const whole = BigInt(kept || '0') * 10n ** BigInt(Math.max(shift, 0));
  return { whole: sign === '-' ? -whole : whole, exact: /^0*$/.test(cut) };
}
