import { MAX_CREDITS, microFromCredits } from '../../../domain/credits.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { count } from './credits.ts';

/**
 * Parses a number of credits as a user types it. Throws an ApiFailure about `what` with the field `param` for text that
 * is no number, has more than six decimals, is below `least`, or has a comma, which could mean a decimal point or
 * thousands.
 */
export function readAmount(what: string, text: string, param: string, least = 0): number {
  const typed = text.trim().replace('−', '-');
  const amount = /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : undefined;
  const isTaken = amount !== undefined && amount >= least && microFromCredits(amount) !== undefined;
  if (isTaken) return amount;
  throw new ApiFailure(0, 'invalid_field', `${what} must be ${wantedOf(typed, amount, least)}.`, param);
}

function wantedOf(typed: string, amount: number | undefined, least: number): string {
  if (amount !== undefined) {
    if (amount < least) return `${least} or more`;
    if (Math.abs(amount) > MAX_CREDITS) return `at most ${count(MAX_CREDITS)}`;
    return 'a number with at most six decimals';
  }
  const bare = typed.replace(/[^\d.,-]/g, '');
  if (typed === '' || bare === '') return 'a number, such as 12.50';
  if (bare.includes(',')) return `written with a decimal point and no thousands separator${asIn(bare)}`;
  return bare === typed ? 'a number, such as 12.50' : `a number without currency signs, letters or spaces`;
}

/** Suggestion of the numbers that may have been meant by a comma. */
function asIn(bare: string): string {
  const decimal = bare.replace(',', '.');
  const whole = bare.replaceAll(',', '');
  if (/^-?\d+,\d+$/.test(bare)) {
    return /,\d{3}$/.test(bare) ? `: ${whole} or ${Number(decimal)}` : `: ${Number(decimal)}`;
  }
  return /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare) ? `: ${whole}` : '';
}
