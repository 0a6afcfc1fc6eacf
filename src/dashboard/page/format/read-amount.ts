import { MAX_CREDITS, microFromCredits } from '../../../domain/credits.ts';
import { ApiFailure } from '../api/request.ts';

/**
 * The number of credits that somebody typed. Throws ApiFailure, said of `what`, for what is no decimal number of at most
 * six decimals, or below `least`; it names `param`.
 */
export function readAmount(what: string, text: string, param: string, least = 0): number {
  const typed = text.trim().replace('−', '-');
  const amount = /^-?\d{1,10}(\.\d+)?$/.test(typed) ? Number(typed) : Number.NaN;
  if (microFromCredits(amount) === undefined || amount < least) {
    const range = least < 0 ? '' : ` from ${least} to ${MAX_CREDITS}`;
    throw new ApiFailure(
      0,
      'invalid_field',
      `${what} must be a number${range} with at most six decimals.`,
      param,
    );
  }
  return amount;
}
