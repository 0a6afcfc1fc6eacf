import { MAX_CREDITS } from '../../domain/credits.ts';
import { Type } from './json-type.ts';

/** Fields that many schemas have, described once. */

/** One of a few words. */
export function words(list: readonly string[], description: string, more: object = {}) {
  return Type.String({ enum: [...list], description, ...more });
}

/** `YYYY-MM-DDTHH:MM:SS.sssZ` (contract section 2). */
export function timestamp(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-11-21T08:00:00.000Z'] });
}

/** The same, or null. */
export function timestampOrNull(description: string, more: object = {}) {
  return Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description, ...more });
}

export function id(description: string) {
  return Type.Integer({ minimum: 1, description, examples: [1] });
}

/** Credits as a number, never negative. */
export function credits(description: string, more: object = {}) {
  return Type.Number({
    minimum: 0,
    maximum: MAX_CREDITS,
    description: `${description} In credits, at most six decimals.`,
    ...more,
  });
}

/** A balance can fall below 0, where a hold was too small a bound. */
export function balance(description: string) {
  return Type.Number({
    minimum: -MAX_CREDITS,
    maximum: MAX_CREDITS,
    description: `${description} In credits, at most six decimals.`,
  });
}

/** Credits as a decimal string that loses nothing. */
export function exactCredits(description: string) {
  return Type.String({
    pattern: '^-?\\d+\\.\\d{6}$',
    description: `${description} In credits, six decimals.`,
  });
}

/** Passed on to get the following page. */
export function cursor(description: string) {
  return Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,15}$', description, examples: ['1024'] }));
}

export function pageLimit(description: string, more: object = {}) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description, ...more }));
}
