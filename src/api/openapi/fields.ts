import { CALL_LIMIT_FIELDS } from '../../domain/call-limits.ts';
import { MAX_CREDITS, type Micro } from '../../domain/credits.ts';
import { callLimit, credits as creditsReader } from '../../domain/key-readers.ts';
import { parseDay } from '../../domain/period.ts';
import {
  described,
  type Field,
  fieldSchema,
  type JsonSchema,
  type MaybeField,
  maybe,
  number,
  type Reader,
  required,
  text,
} from '../../domain/shape.ts';
import { type Schema, Type } from './json-type.ts';

// Schemas of fields that many answers share, and readers of fields that many requests share.

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

/** Name of the key of a row. */
export const KeyName = orNull(Type.String(), 'Name of the key.');
/** Person of the key of a row. */
export const KeyMember = orNull(
  Type.Object({ id: id('Id of the person.'), name: Type.String() }),
  "The person whose key it is; null: the key is the account's.",
);

/** Field of credits as a number that is never negative. */
export function creditsField(description: string): Field<Micro, number> {
  return required(creditsReader(), `${description} In credits, at most six decimals.`);
}

/** Schema of credits as a number that is never negative. */
export function credits(description: string) {
  return fieldSchema(creditsField(description));
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
const ID = /^[1-9]\d{0,15}$/;

/** A positive id in its only spelling (no sign, no leading zero); undefined for any other text. */
export function pathId(given: string): number | undefined {
  const id = ID.test(given) ? Number(given) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The cursor `next` of an earlier page. */
export const CURSOR = text('must be the value of "next" from the previous page', pathId, {
  pattern: ID.source,
  examples: ['1024'],
});

/** Default of the parameter `limit` of most lists. */
export const DEFAULT_PAGE_LIMIT = 100;
/** The parameter `limit`, the maximum items of a page. */
export const PAGE_LIMIT = number(1, 1_000);

/** An id as a parameter of a query. */
export const ID_PARAM = described(number(1), { examples: [1] });

/** A UTC day, in days since 1970-01-01. Without a bound, the default days of a report could start before year 0. */
export const DAY = text(
  'must be a date in the form YYYY-MM-DD',
  (given) => {
    const day = parseDay(given);
    return day !== undefined && day >= 0 ? day : undefined;
  },
  { format: 'date' },
);

/** A parameter of a query as text. PostgreSQL rejects U+0000, in query arguments too. */
export function anyText(more: JsonSchema = {}): Reader<string, string> {
  return text('must not contain U+0000', (given) => (given.includes('\0') ? undefined : given), more);
}

type CallLimitField = (typeof CALL_LIMIT_FIELDS)[keyof typeof CALL_LIMIT_FIELDS];

/** The call limits (specification section 11); `whose` is, for example, "the key's"; `more` of a field's description. */
export function callLimits(
  whose: string,
  more: (setting: keyof typeof CALL_LIMIT_FIELDS) => string = () => '',
): Readonly<Record<CallLimitField, MaybeField<number | null, number | null>>> {
  const limit = (setting: keyof typeof CALL_LIMIT_FIELDS, maximum: string) =>
    maybe(callLimit, `Maximum of ${whose} ${maximum}. null: no limit.${more(setting)}`);
  return {
    [CALL_LIMIT_FIELDS.rpmLimit]: limit('rpmLimit', 'calls per minute'),
    [CALL_LIMIT_FIELDS.tpmLimit]: limit(
      'tpmLimit',
      'tokens per minute: uncached input, cache writes and output',
    ),
    [CALL_LIMIT_FIELDS.maxParallelRequests]: limit('maxParallelRequests', 'calls in flight'),
  };
}
