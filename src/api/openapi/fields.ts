import { CALL_LIMIT_FIELDS, MAX_CALL_LIMIT } from '../../domain/call-limits.ts';
import { MAX_CREDITS } from '../../domain/credits.ts';
import { SIX_DECIMALS } from '../../domain/json-patterns.ts';
import { type Schema, Type } from './json-type.ts';

// Schemas of fields shared by many bodies.

/** Schema of a string with one of the listed values. */
export function words<Word extends string>(list: readonly Word[], description: string, more: object = {}) {
  return Type.Enum(list, { description, ...more });
}

/** Schema of a time, `YYYY-MM-DDTHH:MM:SS.sssZ` (specification section 2). */
export function time(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-11-21T08:00:00.000Z'] });
}

/** Schema of a time, `YYYY-MM-DDTHH:MM:SS.sssZ`, or null. */
export function timeOrNull(description: string) {
  return orNull(Type.String({ format: 'date-time' }), description);
}

/** Schema of a UTC day, `YYYY-MM-DD`. */
export function day(description: string) {
  return Type.String({ format: 'date', description });
}

/** Makes a schema nullable. */
export function orNull<T>(schema: Schema<T>, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Schema of an id of an account or a key. */
export function id(description: string) {
  return Type.Integer({ minimum: 1, description, examples: [1] });
}

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

/** A balance can fall below 0: by the overdraft, by an adjustment, or if a hold was too small a bound. */
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

/** Matches a positive id without sign or leading zero. */
export const ID = /^[1-9]\d{0,15}$/;

/** Schema of the cursor of the next page. */
export function cursor(description: string) {
  return Type.Optional(Type.String({ pattern: ID.source, description, examples: ['1024'] }));
}

/** Bounds of the parameter `limit`, and its default for most lists. */
export const PAGE_LIMIT = { min: 1, max: 1_000 };
export const DEFAULT_PAGE_LIMIT = 100;

/** Schema of `limit`, the maximum items of a page. */
export function pageLimit(description: string, more: object = {}) {
  const { min, max } = PAGE_LIMIT;
  return Type.Optional(Type.Integer({ minimum: min, maximum: max, description, ...more }));
}

/** Schemas of the call limits (specification section 11); `whose` is, for example, "the key's". */
export function callLimitSchemas(whose: string) {
  return {
    [CALL_LIMIT_FIELDS.rpmLimit]: callLimit(`Maximum of ${whose} calls per minute.`),
    [CALL_LIMIT_FIELDS.tpmLimit]: callLimit(
      `Maximum of ${whose} tokens per minute: uncached input, cache writes and output.`,
    ),
    [CALL_LIMIT_FIELDS.maxParallelRequests]: callLimit(`Maximum of ${whose} calls in flight.`),
  };
}

function callLimit(description: string) {
  return orNull(Type.Integer({ minimum: 1, maximum: MAX_CALL_LIMIT }), `${description} null: no limit.`);
}
