import { ApiFailure } from '../data/api-failure.ts';
import { count } from './credits.ts';

/**
 * Parses a whole number from 1 to `most` as a user types it. Throws an ApiFailure about `what` with the field `param`
 * for any other text. `empty`: a sentence added to the failure, for fields that may be left empty, which says what that
 * means.
 */
export function readWhole(what: string, text: string, param: string, most: number, empty = ''): number {
  const typed = text.trim();
  const whole = /^\d+$/.test(typed) ? Number(typed) : undefined;
  if (whole !== undefined && whole >= 1 && whole <= most) return whole;
  const wanted = wantedOf(typed, whole, most);
  throw new ApiFailure(0, 'invalid_field', `${what} must be ${wanted}.${empty && ` ${empty}`}`, param);
}

function wantedOf(typed: string, whole: number | undefined, most: number): string {
  if (whole !== undefined) return whole < 1 ? '1 or more' : `at most ${count(most)}`;
  if (/^\d{1,3}([,'’\s]\d{3})+$/.test(typed)) {
    return `written without a thousands separator: ${typed.replace(/\D/g, '')}`;
  }
  return 'a whole number, such as 60';
}
