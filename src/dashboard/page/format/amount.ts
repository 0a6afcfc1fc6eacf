import { credits } from './credits.ts';

const TWO_DECIMALS = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  roundingMode: 'halfExpand',
});
const TWO_DIGITS = new Intl.NumberFormat('en', { maximumSignificantDigits: 2, roundingMode: 'halfExpand' });

/**
 * Credits as figures show them (specification section 8): rounded half up to two decimals, amounts below 0.01 to two
 * significant digits. Takes the API's numbers and its decimal strings; text is never turned into a float.
 */
export function rounded(amount: number | string): string {
  const text = String(amount);
  const isSmall = /^-?0?\.0*(0[1-9]|[1-9])/.test(text) && Math.abs(Number(text)) < 0.01 && Number(text) !== 0;
  return (isSmall ? TWO_DIGITS : TWO_DECIMALS).format(text as `${number}`).replace('-', '−');
}

/** Every digit of an amount, for the tooltip of a rounded one: `1,234.50025 credits`. */
export function exactly(amount: number | string): string {
  return `${credits(amount)} credits`;
}
