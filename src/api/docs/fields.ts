import { MAX_CREDITS } from '../../domain/credits.ts';
import { Type } from './json-type.ts';

/** Fields that many schemas have, described once. */

/** One of the words listed. */
export function words(list: readonly string[], description: string, more: object = {}) {
  return Type.String({ enum: [...list], description, ...more });
}

/** `YYYY-MM-DDTHH:MM:SS.sssZ` (specification section 2). */
export function timestamp(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-11-21T08:00:00.000Z'] });
}

/** `YYYY-MM-DDTHH:MM:SS.sssZ`, or null. */
export function timestampOrNull(description: string, more: object = {}) {
  return Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description, ...more });
}

export function id(description: string) {
  return Type.Integer({ minimum: 1, description, examples: [1] });
}

/**
 * Patterns use only constructs that every validator knows: some have no look-around, no back-references and no `\p`. What
 * they cannot forbid, such as half a surrogate pair, the route refuses.
 */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
export const TEXT_PATTERNS = {
  /** One line that is not blank. */
  line: `^[^${CONTROL}]*[^${CONTROL}\\s][^${CONTROL}]*$`,
  /** One line that is not blank, without spaces around it. */
  trimmedLine: `^[^${CONTROL}\\s]([^${CONTROL}]*[^${CONTROL}\\s])?$`,
  /** Control characters are line breaks and tabs only. */
  printable: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$',
  /** No database takes U+0000. */
  storable: '^[^\\u0000]*$',
  email: `^[^\\s@${CONTROL}]+@[^\\s@${CONTROL}]+$`,
  /** Empty, or an http(s) URL without user name and password. */
  webhookUrl: `^([Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\\\${CONTROL}]+([/?#][^\\s\\\\${CONTROL}]*)?)?$`,
  ipRange: '^[0-9A-Fa-fXx:.]+(/[0-9]{1,3})?$',
  origin: '^([A-Za-z][A-Za-z0-9+.-]*://)?[^/?#@\\s\\\\]+/?$',
} as const;

/** Below the last of the six decimals there is no amount; `multipleOf` of a fraction would refuse good ones, too. */
export const SIX_DECIMALS = {
  ofPositive: { not: { exclusiveMinimum: 0, exclusiveMaximum: 0.000001 } },
  /** Any amount with six decimals but 0. */
  ofSigned: { not: { exclusiveMinimum: -0.000001, exclusiveMaximum: 0.000001 } },
} as const;

/** Credits as a number, never negative. */
export function credits(description: string, more: object = {}) {
  return Type.Number({
    minimum: 0,
    maximum: MAX_CREDITS,
    ...SIX_DECIMALS.ofPositive,
    description: `${description} In credits, at most six decimals.`,
    ...more,
  });
}

/** A balance can fall below 0: by the overdraft, by an adjustment, or where a hold was too small a bound. */
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

/** The cursor that names the following page. */
export function cursor(description: string) {
  return Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,15}$', description, examples: ['1024'] }));
}

export function pageLimit(description: string, more: object = {}) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description, ...more }));
}
