/**
 * Credits as integers. 1 credit = 1,000,000 micro-credits (contract, "Words used").
 *
 * A `Micro` is a safe integer (below 2^53), never a fraction: it holds balances up to 9,007,199,254
 * credits exactly, both here and in Lua, whose numbers are doubles too. It becomes a decimal only at
 * the edge of the program.
 */
declare const microBrand: unique symbol;
export type Micro = number & { readonly [microBrand]: true };

export const MICRO_PER_CREDIT = 1_000_000;

/** Largest amount that any balance, limit, threshold or price may have, in credits. */
export const MAX_CREDITS = 9_000_000_000;

/** Brands an integer number of micro-credits. Throws RangeError on a fraction or beyond 2^53. */
export function micro(value: number): Micro {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number of micro-credits: ${value}`);
  // -0 would print as "-0" and is refused by Redis' HINCRBY.
  return (value === 0 ? 0 : value) as Micro;
}

/**
 * Reads a JSON number of credits (at most six decimals) without rounding; undefined when it has more
 * decimals or is out of range. Works on the shortest decimal text of the number, so 0.1 is 100000.
 */
export function microFromCredits(credits: number): Micro | undefined {
  if (!Number.isFinite(credits) || Math.abs(credits) > MAX_CREDITS) return undefined;
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(credits));
  if (!match) return undefined;
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const scale = 6 - fraction.length + Number(exponent);
  if (scale < 0 && !/^0*$/.test(digits.slice(scale))) return undefined;
  const scaled = scale >= 0 ? BigInt(digits) * 10n ** BigInt(scale) : BigInt(digits.slice(0, scale) || '0');
  return micro(Number(sign === '-' ? -scaled : scaled));
}

/** Six-decimal string, e.g. 12345678 → "12.345678", -1 → "-0.000001". */
export function creditsString(amount: Micro): string {
  const digits = String(Math.abs(amount)).padStart(7, '0');
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** The JSON number nearest to the amount, exact to six decimals within ±9,000,000,000 credits. */
export function creditsNumber(amount: Micro): number {
  return Number(creditsString(amount));
}
