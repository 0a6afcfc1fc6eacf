/**
 * Credits as integers. 1 credit = 1,000,000 micro-credits (specification section 5).
 *
 * A `Micro` is a safe integer (below 2^53), never a fraction. It holds balances up to 9,007,199,254 credits exactly,
 * here and in Lua, whose numbers are doubles too. It becomes a decimal only at the edge of the program.
 */
declare const microBrand: unique symbol;
export type Micro = number & { readonly [microBrand]: true };

export const MICRO_PER_CREDIT = 1_000_000;

/**
 * Largest balance, limit, threshold or price, in credits. Beyond 2^33 = 8,589,934,592, JSON numbers (doubles) lie
 * further apart than a micro-credit, and two amounts would read the same.
 */
export const MAX_CREDITS = 8_500_000_000;

/** MAX_CREDITS in micro-credits: limit of a balance after a top-up or an adjustment, in both directions. */
export const MAX_BALANCE = MAX_CREDITS * MICRO_PER_CREDIT;

/** Brands an integer number of micro-credits. Throws RangeError on a fraction or beyond 2^53. */
export function micro(value: number): Micro {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number of micro-credits: ${value}`);
  // -0 would print as "-0" and is refused by Redis' HINCRBY.
  return (value === 0 ? 0 : value) as Micro;
}

/**
 * Reads a JSON number of credits (at most six decimals) without rounding, so 0.1 is 100000. Undefined if it has more
 * decimals, is not finite, or exceeds ±MAX_CREDITS.
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
 * Amount for error messages: exact up to 1 credit, rounded up to two decimals above, without trailing zeros. Some
 * clients mistake digits such as 429 or 502 in any number for a status, and retry the call.
 */
export function creditsInWords(amount: Micro): string {
  // BigInt, because the largest hold exceeds 2^53 when rounded up.
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

/** Whole part of a shifted number, and whether nonzero digits were cut off. */
interface ShiftedDecimal {
  readonly whole: bigint;
  readonly exact: boolean;
}

/**
 * `value × 10^places` without rounding, from the shortest decimal text of the number: the digits that a person typed or
 * a provider sent, not the nearest binary fraction. So 1.1 moved by six places is exactly 1100000, while `1.1 * 1e6` is
 * slightly more. Truncates toward zero.
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
