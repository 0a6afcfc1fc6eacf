import { MAX_CREDITS } from '../../domain/credits.ts';
import { type Schema, Type } from './json-type.ts';

// Schemas of fields that many bodies have.

/** Schema of a text that is one of the words listed. */
export function words<Word extends string>(list: readonly Word[], description: string, more: object = {}) {
  return Type.Enum(list, { description, ...more });
}

/** Schema of a time, `YYYY-MM-DDTHH:MM:SS.sssZ` (specification section 2). */
export function timestamp(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-11-21T08:00:00.000Z'] });
}

/** Schema of a time, `YYYY-MM-DDTHH:MM:SS.sssZ`, or null. */
export function timestampOrNull(description: string, more: object = {}) {
  return Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description, ...more });
}

/** Schema of a UTC day, `YYYY-MM-DD`. */
export function day(description: string) {
  return Type.String({ format: 'date', description });
}

/** Schema of what another schema describes, or null. */
export function orNull<T>(schema: Schema<T>, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Schema of an id of an account or a key. */
export function id(description: string) {
  return Type.Integer({ minimum: 1, description, examples: [1] });
}

/**
 * Control characters, for the patterns below. These use only constructs that every validator knows: some have no
 * look-around, no back-references and no `\p`. Text that they cannot exclude, such as half a surrogate pair, is refused
 * by the routes.
 */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
export const TEXT_PATTERNS = {
  /** One line that is not blank. */
  line: `^[^${CONTROL}]*[^${CONTROL}\\s][^${CONTROL}]*$`,
  /** One line that is not blank, without spaces around it. */
  trimmedLine: `^[^${CONTROL}\\s]([^${CONTROL}]*[^${CONTROL}\\s])?$`,
  /** No control characters but line breaks and tabs. */
  printable: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$',
  /** No U+0000, which PostgreSQL cannot store. */
  storable: '^[^\\u0000]*$',
  email: `^[^\\s@${CONTROL}]+@[^\\s@${CONTROL}]+$`,
  /** Empty, or an http(s) URL without user name and password. */
  webhookUrl: `^([Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\\\${CONTROL}]+([/?#][^\\s\\\\${CONTROL}]*)?)?$`,
  ipRange: '^[0-9A-Fa-fXx:.]+(/[0-9]{1,3})?$',
  /** Two letters; whether they are a country's is not a pattern's to say. */
  country: '^[A-Za-z]{2}$',
  origin: '^([A-Za-z][A-Za-z0-9+.-]*://)?[^/?#@\\s\\\\]+/?$',
} as const;

/**
 * Keywords that exclude amounts smaller than the sixth decimal. `multipleOf: 0.000001` would also refuse good amounts,
 * because validators divide with floating-point numbers.
 */
export const SIX_DECIMALS = {
  ofPositive: { not: { exclusiveMinimum: 0, exclusiveMaximum: 0.000001 } },
  /** Any amount with six decimals but 0. */
  ofSigned: { not: { exclusiveMinimum: -0.000001, exclusiveMaximum: 0.000001 } },
} as const;

/** Schema of credits as a number that is never negative. */
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

/** Schema of credits as a decimal string, which is exact. */
export function exactCredits(description: string) {
  return Type.String({
    pattern: '^-?\\d+\\.\\d{6}$',
    description: `${description} In credits, six decimals.`,
  });
}

/** Matches a positive id in its only spelling: no sign, no leading zero. */
export const ID = /^[1-9]\d{0,15}$/;

/** Schema of the cursor of the next page. */
export function cursor(description: string) {
  return Type.Optional(Type.String({ pattern: ID.source, description, examples: ['1024'] }));
}

/** Bounds of the parameter `limit`, and the length of most lists where it is absent. */
export const PAGE_LIMIT = { min: 1, max: 1_000 };
export const DEFAULT_PAGE_LIMIT = 100;

/** Schema of the most items of a page. */
export function pageLimit(description: string, more: object = {}) {
  const { min, max } = PAGE_LIMIT;
  return Type.Optional(Type.Integer({ minimum: min, maximum: max, description, ...more }));
}
