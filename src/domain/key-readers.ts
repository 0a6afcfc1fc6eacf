import { normalizeRange } from './addresses.ts';
import { MAX_CALL_LIMIT } from './call-limits.ts';
import { normalizeCountry } from './countries.ts';
import { MAX_CREDITS, type Micro, microFromCredits } from './credits.ts';
import { invalidField } from './errors.ts';
import { parseActiveHours } from './hours.ts';
import { SIX_DECIMALS, TEXT_PATTERNS } from './json-patterns.ts';
import { parseOriginRule } from './origins.ts';
import { parseTimestamp, SPENDING_PERIODS, type SpendingPeriod } from './period.ts';

/**
 * Converts a client's value of one key field (specification section 2) to its stored form. Throws `invalid_field`,
 * which names the field (`param`) and says how to fix it.
 */
type FieldReader<T> = (param: string, value: unknown) => T;

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

export const readName: FieldReader<string> = (param, value) => {
  const name = typeof value === 'string' && isText(value) ? value.trim() : '';
  if (UNSEEN.test(name) || CONTROL.test(name) || isLonger(name, LONGEST_NAME)) {
    throw invalidField(
      param,
      `${param} must be one line of 1 to ${LONGEST_NAME} characters that can be seen.`,
    );
  }
  if (REORDERING.test(name)) {
    throw invalidField(
      param,
      `${param} must not have characters that reorder text (U+202A–202E, U+2066–2069).`,
    );
  }
  return name;
};

export const readDescription: FieldReader<string> = (param, value) => {
  if (!isText(value) || UNPRINTABLE.test(value) || isLonger(value, LONGEST_DESCRIPTION)) {
    throw invalidField(
      param,
      `${param} must be a string of at most ${LONGEST_DESCRIPTION} characters, or "" for none.`,
    );
  }
  return value;
};

const readBoolean: FieldReader<boolean> = (param, value) => {
  if (typeof value !== 'boolean') throw invalidField(param, `${param} must be true or false.`);
  return value;
};

/** Milliseconds since the epoch. A time in the past is valid and makes the key expired. */
const readExpiry: FieldReader<number | null> = (param, value) => {
  if (value === null) return null;
  const ms = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (ms === undefined) {
    throw invalidField(
      param,
      `${param} must be an ISO 8601 date-time with Z or an offset, e.g. "2030-01-31T12:00:00Z", or null for never.`,
    );
  }
  return ms;
};

const readLimit: FieldReader<Micro | null> = (param, value) => {
  if (value === null) return null;
  const limit = typeof value === 'number' ? microFromCredits(value) : undefined;
  if (limit === undefined || limit < 0) {
    throw invalidField(
      param,
      `${param} must be a number of credits from 0 to ${MAX_CREDITS} with at most six decimals, or null for no limit.`,
    );
  }
  return limit;
};

/** A limit of calls: an integer from 1, or null. */
export const readCallLimit: FieldReader<number | null> = (param, value) => {
  if (value === null) return null;
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > MAX_CALL_LIMIT) {
    throw invalidField(
      param,
      `${param} must be a whole number from 1 to ${MAX_CALL_LIMIT}, or null for no limit.`,
    );
  }
  return value as number;
};

function readWord<W extends string>(words: readonly W[]): FieldReader<W> {
  return (param, value) => {
    const word = words.find((known) => known === value);
    if (word === undefined) throw invalidField(param, `${param} must be one of ${words.join(', ')}.`);
    return word;
  };
}

export const readHours: FieldReader<string> = (param, value) => {
  if (value === '') return '';
  if (typeof value !== 'string' || !parseActiveHours(value)) {
    throw invalidField(
      param,
      `${param} must be a UTC time range HH:MM-HH:MM whose start and end differ, e.g. "08:00-18:00", or "" for no restriction.`,
    );
  }
  return value;
};

export const readWebhookUrl: FieldReader<string> = (param, value) => {
  if (value === '') return '';
  if (!isWebhookUrl(value)) {
    throw invalidField(
      param,
      `${param} must be an absolute http or https URL of at most ${LONGEST_WEBHOOK_URL} characters without user name, ` +
        'password or whitespace, or "" for none.',
    );
  }
  return value;
};

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

/** Reads a list of texts: keeps the order, normalizes each, drops duplicates. */
function readList<T extends string>({ wanted, read }: Item<T>): FieldReader<readonly T[]> {
  return (param, value) => {
    if (!Array.isArray(value))
      throw invalidField(param, `${param} must be a list, or [] for no restriction.`);
    if (value.length > MOST_ITEMS) {
      throw invalidField(param, `${param} may have at most ${MOST_ITEMS} items; it has ${value.length}.`);
    }
    // Counted first, because reading an address or an origin takes up to 20 µs.
    const characters = value.reduce((sum: number, item) => sum + (isText(item) ? item.length : 0), 0);
    if (characters > MOST_KEY_BYTES) {
      throw invalidField(
        param,
        `${param} may have at most ${MOST_KEY_BYTES} characters; it has ${characters}.`,
      );
    }
    const items = value.map((item: unknown, index) => {
      const normalized = isText(item) ? read(item) : undefined;
      if (normalized !== undefined) return normalized;
      throw invalidField(param, `Item ${index + 1} of ${param}, ${shown(item)}, is not ${wanted}.`);
    });
    return [...new Set(items)];
  };
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

/** Truncates a value for an error message. */
function shown(value: unknown): string {
  if (typeof value !== 'string')
    return value === null ? 'null' : `a ${Array.isArray(value) ? 'list' : typeof value}`;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

/** How a value is stored, answered, typed on the command line and shown. */
export type Kind = 'text' | 'flag' | 'time' | 'credits' | 'count' | 'list';

/** A type of fields: the kind of its values, their JSON Schema for the API's description, and their reader. */
export interface FieldType<T = unknown, K extends Kind = Kind> {
  readonly kind: K;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly read: FieldReader<T>;
  /** Name of the items of a list. */
  readonly item?: Item;
}

const NULL = { type: 'null' };

/** Types of the fields of a key. */
export const TYPES = {
  name: {
    kind: 'text',
    schema: { type: 'string', minLength: 1, maxLength: LONGEST_NAME, pattern: TEXT_PATTERNS.line },
    read: readName,
  } as FieldType<string, 'text'>,
  description: {
    kind: 'text',
    schema: { type: 'string', maxLength: LONGEST_DESCRIPTION, pattern: TEXT_PATTERNS.printable },
    read: readDescription,
  } as FieldType<string, 'text'>,
  flag: { kind: 'flag', schema: { type: 'boolean' }, read: readBoolean } as FieldType<boolean, 'flag'>,
  time: {
    kind: 'time',
    schema: { anyOf: [{ type: 'string', format: 'date-time' }, NULL] },
    read: readExpiry,
  } as FieldType<number | null, 'time'>,
  credits: {
    kind: 'credits',
    schema: {
      anyOf: [{ type: 'number', minimum: 0, maximum: MAX_CREDITS, ...SIX_DECIMALS.ofPositive }, NULL],
    },
    read: readLimit,
  } as FieldType<Micro | null, 'credits'>,
  callLimit: {
    kind: 'count',
    schema: { anyOf: [{ type: 'integer', minimum: 1, maximum: MAX_CALL_LIMIT }, NULL] },
    read: readCallLimit,
  } as FieldType<number | null, 'count'>,
  period: {
    kind: 'text',
    schema: { type: 'string', enum: [...SPENDING_PERIODS] },
    read: readWord(SPENDING_PERIODS),
  } as FieldType<SpendingPeriod, 'text'>,
  hours: {
    kind: 'text',
    schema: { type: 'string', pattern: '^(([01]\\d|2[0-3]):[0-5]\\d-(([01]\\d|2[0-3]):[0-5]\\d|24:00))?$' },
    read: readHours,
  } as FieldType<string, 'text'>,
  webhookUrl: {
    kind: 'text',
    schema: { type: 'string', maxLength: LONGEST_WEBHOOK_URL, pattern: TEXT_PATTERNS.webhookUrl },
    read: readWebhookUrl,
  } as FieldType<string, 'text'>,
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

function listOf<T extends string>(item: Item<T>, items: object): FieldType<readonly T[], 'list'> {
  return { kind: 'list', schema: { type: 'array', items, maxItems: MOST_ITEMS }, read: readList(item), item };
}
