import { normalizeRange } from './addresses.ts';
import { MAX_CALL_LIMIT } from './call-limits.ts';
import { normalizeCountry } from './countries.ts';
import { MAX_CREDITS, type Micro, microFromCredits } from './credits.ts';
import { parseActiveHours } from './hours.ts';
import { SIX_DECIMALS, TEXT_PATTERNS } from './json-patterns.ts';
import { LIMIT_PERIODS } from './limit-periods.ts';
import { parseOriginRule } from './origins.ts';
import { parseTimestamp, SPENDING_PERIODS } from './period.ts';
import {
  boolean,
  type JsonSchema,
  number,
  numberOf,
  oneOf,
  orNull,
  type Reader,
  reader,
  text,
} from './shape.ts';
import type { SpendingLimit, WireLimit } from './spending-limits.ts';

/** Modalities, in the order of answers. */
export const CATEGORIES = ['text', 'image', 'tts', 'stt', 'video'] as const;
export type Category = (typeof CATEGORIES)[number];

/** Bounds of fields, in characters and items; the description of the API states them. */
export const LONGEST_NAME = 100;
export const LONGEST_DESCRIPTION = 1_000;
const LONGEST_SLUG = 200;
export const LONGEST_WEBHOOK_URL = 2_048;
const MOST_ITEMS = 1_000;
/** Limit of a key's settings in bytes. Redis and every gateway hold them in memory. */
export const MOST_KEY_BYTES = 65_536;

const CONTROL = /\p{Cc}/u;
/** Control characters that are no line break or tab; PostgreSQL, for one, cannot store U+0000 in a text. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]/u;

/** Nothing that can be seen. */
const UNSEEN = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]*$/u;
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;

/** A key has one reader for each of its fields (specification section 2), which converts the value to its stored form. */
const name: Reader<string, string> = reader(
  { type: 'string', minLength: 1, maxLength: LONGEST_NAME, pattern: TEXT_PATTERNS.line },
  (value, path, faults) => {
    const line = isText(value) ? value.trim() : '';
    if (UNSEEN.test(line) || CONTROL.test(line) || isLonger(line, LONGEST_NAME)) {
      return faults.add(path, `must be one line of 1 to ${LONGEST_NAME} characters that can be seen`);
    }
    if (REORDERING.test(line)) {
      return faults.add(path, 'must not have characters that reorder text (U+202A–202E, U+2066–2069)');
    }
    return line;
  },
);

const description = text(
  `must be a string of at most ${LONGEST_DESCRIPTION} characters, or "" for none`,
  (given) =>
    isText(given) && !UNPRINTABLE.test(given) && !isLonger(given, LONGEST_DESCRIPTION) ? given : undefined,
  { maxLength: LONGEST_DESCRIPTION, pattern: TEXT_PATTERNS.printable },
);

/** Milliseconds since the epoch. A time in the past is valid and makes the key expired. */
const expiry = text(
  'must be an ISO 8601 date-time with Z or an offset, e.g. "2030-01-31T12:00:00Z", or null for never',
  parseTimestamp,
  { format: 'date-time' },
);

/** Credits, 0 or more. */
export function credits(orElse = ''): Reader<Micro, number> {
  return reader(
    { type: 'number', minimum: 0, maximum: MAX_CREDITS, ...SIX_DECIMALS.ofPositive },
    (value, path, faults) => {
      const given = faults.allowsText ? numberOf(value) : value;
      const amount = typeof given === 'number' ? microFromCredits(given) : undefined;
      if (amount !== undefined && amount >= 0) return amount;
      return faults.add(
        path,
        `must be a number of credits from 0 to ${MAX_CREDITS} with at most six decimals${orElse}`,
      );
    },
  );
}

/** Spending limits of a key or an account, at most one for each period. */
export const spendingLimits: Reader<readonly SpendingLimit[], readonly WireLimit[]> = reader(
  {
    type: 'array',
    maxItems: LIMIT_PERIODS.length,
    items: {
      type: 'object',
      properties: {
        period: { type: 'string', enum: LIMIT_PERIODS },
        credits: credits().schema,
      },
      required: ['period', 'credits'],
      additionalProperties: false,
    },
  },
  (value, path, faults) => {
    if (!Array.isArray(value)) {
      const right = 'must be a list of limits such as {"period": "5h", "credits": 2}, or [] for none';
      return faults.add(path, right);
    }
    const read = new Map<string, SpendingLimit>();
    for (const [index, one] of value.entries()) {
      const subject = `Item ${index + 1} of ${path}`;
      const fields = isObject(one) ? one : {};
      const period = LIMIT_PERIODS.find((known) => known === fields.period);
      if (!period || Object.keys(fields).some((name) => name !== 'period' && name !== 'credits')) {
        const right = `must be {"period", "credits"} with a period of ${LIMIT_PERIODS.join(', ')}`;
        return faults.add(path, right, subject);
      }
      const amount = typeof fields.credits === 'number' ? microFromCredits(fields.credits) : undefined;
      if (amount === undefined || amount < 0) {
        const right = `must have credits from 0 to ${MAX_CREDITS} with at most six decimals`;
        return faults.add(path, right, subject);
      }
      if (read.has(period)) return faults.add(path, `must have at most one limit for ${period}`);
      read.set(period, { period, credits: amount });
    }
    return [...read.values()];
  },
);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const NO_LIMIT = ', or null for no limit';
/** A limit of calls: an integer from 1, or null. */
export const callLimit = orNull(number(1, MAX_CALL_LIMIT, 'whole', NO_LIMIT));

const hours = text(
  'must be a UTC time range HH:MM-HH:MM whose start and end differ, e.g. "08:00-18:00", or "" for no restriction',
  (given) => (given === '' || parseActiveHours(given) ? given : undefined),
  { pattern: '^(([01]\\d|2[0-3]):[0-5]\\d-(([01]\\d|2[0-3]):[0-5]\\d|24:00))?$' },
);

const webhookUrl = text(
  `must be an absolute http or https URL of at most ${LONGEST_WEBHOOK_URL} characters without user name, ` +
    'password or whitespace, or "" for none',
  (given) => (given === '' || isWebhookUrl(given) ? given : undefined),
  { maxLength: LONGEST_WEBHOOK_URL, pattern: TEXT_PATTERNS.webhookUrl },
);

/** An item of a list that is typed: its reader, which gives the normal form, and what it must be. */
export interface Item<T extends string = string> {
  readonly read: (text: string) => T | undefined;
  readonly wanted: string;
}

const MODEL: Item = {
  read: (text) =>
    !isLonger(text, LONGEST_SLUG) && text !== '' && text === text.trim() && !CONTROL.test(text)
      ? text
      : undefined,
  wanted: `a model slug of 1 to ${LONGEST_SLUG} characters`,
};
const CATEGORY: Item<Category> = {
  read: (text) => CATEGORIES.find((category) => category === text),
  wanted: `one of ${CATEGORIES.join(', ')}`,
};
export const ADDRESS: Item = {
  read: normalizeRange,
  wanted: 'an IPv4 or IPv6 address or CIDR range, e.g. "203.0.113.7" or "2001:db8::/32"',
};
export const ORIGIN: Item = {
  read: parseOriginRule,
  wanted: 'an origin such as "https://app.example.com", "https://*.example.com" or "example.com"',
};
const COUNTRY: Item = {
  read: normalizeCountry,
  wanted: 'an ISO 3166-1 alpha-2 country code, e.g. "DE"',
};

/** A list of texts: keeps the order, normalizes each, drops duplicates. */
function listOf<T extends string>(item: Item<T>, items: JsonSchema): FieldType<readonly T[], 'list'> {
  const schema = { type: 'array', items, maxItems: MOST_ITEMS };
  const read = reader<readonly T[], readonly T[]>(schema, (value, path, faults) => {
    if (!Array.isArray(value)) return faults.add(path, 'must be a list, or [] for no restriction');
    if (value.length > MOST_ITEMS) {
      return faults.add(path, `may have at most ${MOST_ITEMS} items; it has ${value.length}`);
    }
    // Counted first, because reading an address or an origin takes up to 20 µs.
    const characters = value.reduce((sum: number, one) => sum + (isText(one) ? one.length : 0), 0);
    if (characters > MOST_KEY_BYTES) {
      return faults.add(path, `may have at most ${MOST_KEY_BYTES} characters; it has ${characters}`);
    }
    const normalized = value.map((one: unknown) => (isText(one) ? item.read(one) : undefined));
    const wrong = normalized.indexOf(undefined);
    if (wrong < 0) return [...new Set(normalized as T[])];
    const subject = `Item ${wrong + 1} of ${path}, ${shown(value[wrong])},`;
    return faults.add(path, `is not ${item.wanted}`, subject);
  });
  return Object.assign(typed('list', read), { item });
}

function isWebhookUrl(value: unknown): value is string {
  if (!isText(value) || isLonger(value, LONGEST_WEBHOOK_URL) || /[\s\p{Cc}\\]/u.test(value)) return false;
  // The URL parser takes `http:host` and drops an empty `user@`; a stored URL must have one reading only.
  const authority = /^https?:\/\/([^/?#]+)/i.exec(value)?.[1];
  return authority !== undefined && !authority.includes('@') && URL.canParse(value);
}

/** True for a string without lone surrogates, which UTF-8 and so databases can't hold. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** True if a text has more than `most` characters (code points, not UTF-16 units). */
export function isLonger(text: string, most: number): boolean {
  return text.length > 2 * most || (text.length > most && Array.from(text).length > most);
}

/** Text of a limited length. PostgreSQL can't store U+0000, and UTF-8 can't encode half a surrogate pair. */
export function storable(maxLength: number): Reader<string, string> {
  return text(
    `must be a string of at most ${maxLength} characters`,
    (given) => (isText(given) && !isLonger(given, maxLength) && !given.includes('\0') ? given : undefined),
    { maxLength, pattern: TEXT_PATTERNS.storable },
  );
}

const SHORT = 1_000;
/** Text of at most 1,000 characters that `parse` accepts. */
export function shortText<T>(
  right: string,
  parse: (given: string) => T | undefined,
  more: JsonSchema = {},
): Reader<T, string> {
  const accept = (given: string) => (isLonger(given, SHORT) ? undefined : parse(given));
  return text(right, accept, { maxLength: SHORT, pattern: TEXT_PATTERNS.storable, ...more });
}

/** Truncates a value for an error message. */
function shown(value: unknown): string {
  if (typeof value !== 'string')
    return value === null ? 'null' : `a ${Array.isArray(value) ? 'list' : typeof value}`;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

/** How a value is stored, answered, typed on the command line and shown. */
export type Kind = 'text' | 'flag' | 'time' | 'credits' | 'count' | 'list' | 'limits';

/** A type of fields: a reader, and the kind of its values. */
export interface FieldType<T = unknown, K extends Kind = Kind, W = T> extends Reader<T, W> {
  readonly kind: K;
  /** Name of the items of a list. */
  readonly item?: Item;
}

function typed<T, K extends Kind, W>(kind: K, read: Reader<T, W>): FieldType<T, K, W> {
  return Object.assign(reader<T, W>(read.schema, read), { kind });
}

/** Types of the fields of a key. */
export const TYPES = {
  name: typed('text', name),
  description: typed('text', description),
  flag: typed('flag', boolean),
  time: typed('time', orNull(expiry)),
  credits: typed('credits', orNull(credits(NO_LIMIT))),
  callLimit: typed('count', callLimit),
  spendingLimits: typed('limits', spendingLimits),
  period: typed('text', oneOf(...SPENDING_PERIODS)),
  hours: typed('text', hours),
  webhookUrl: typed('text', webhookUrl),
  models: listOf(MODEL, {
    type: 'string',
    minLength: 1,
    maxLength: LONGEST_SLUG,
    pattern: TEXT_PATTERNS.trimmedLine,
  }),
  categories: listOf(CATEGORY, { type: 'string', enum: [...CATEGORIES] }),
  ips: listOf(ADDRESS, { type: 'string', pattern: TEXT_PATTERNS.ipRange }),
  origins: listOf(ORIGIN, { type: 'string', pattern: TEXT_PATTERNS.origin }),
  countries: listOf(COUNTRY, { type: 'string', pattern: TEXT_PATTERNS.country }),
};
