/** What `shiftDecimal` found: the whole part, and whether anything but zeros was cut off behind it. */
export interface ShiftedDecimal {
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
