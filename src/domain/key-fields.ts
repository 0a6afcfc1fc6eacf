import { normaliseRange } from './addresses.ts';
import { MAX_CALL_LIMIT } from './call-limits.ts';
import { normaliseCountry } from './countries.ts';
import { MAX_CREDITS, type Micro, microFromCredits } from './credits.ts';
import { invalidField } from './errors.ts';
import { parseActiveHours } from './hours.ts';
import { CATEGORIES, type Category } from './key.ts';
import { parseOriginRule } from './origins.ts';
import { parseTimestamp } from './period.ts';

/**
 * Reads one field of a key as a client sent it (specification section 2) into the form in which it is stored. Throws
 * `invalid_field` that names the field (`param`) and says what would be right.
 */
export type FieldReader<T> = (param: string, value: unknown) => T;

/** Bounds of fields, in characters and items; the description of the API states them. */
export const LONGEST_NAME = 100;
export const LONGEST_DESCRIPTION = 1_000;
export const LONGEST_SLUG = 200;
export const LONGEST_WEBHOOK_URL = 2_048;
export const MOST_ITEMS = 1_000;

const CONTROL = /\p{Cc}/u;
/** Control characters that are no line break or tab; PostgreSQL, for one, cannot store U+0000 in a text. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]/u;

export const readName: FieldReader<string> = (param, value) => {
  const name = typeof value === 'string' && isText(value) ? value.trim() : '';
  if (name === '' || CONTROL.test(name) || isLonger(name, LONGEST_NAME)) {
    throw invalidField(param, `${param} must be a line of 1 to ${LONGEST_NAME} characters.`);
  }
  return name;
};

export const readDescription: FieldReader<string> = (param, value) => {
  if (!isText(value) || UNPRINTABLE.test(value) || isLonger(value, LONGEST_DESCRIPTION)) {
    throw invalidField(
      param,
      `${param} must be a text of at most ${LONGEST_DESCRIPTION} characters; "" for none.`,
    );
  }
  return value;
};

export const readBoolean: FieldReader<boolean> = (param, value) => {
  if (typeof value !== 'boolean') throw invalidField(param, `${param} must be true or false.`);
  return value;
};

/** Milliseconds since the epoch. A time in the past is taken: the key has expired then. */
export const readExpiry: FieldReader<number | null> = (param, value) => {
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

export const readLimit: FieldReader<Micro | null> = (param, value) => {
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

/** One of a few words, exactly as they are spelt. */
export function readWord<W extends string>(words: readonly W[]): FieldReader<W> {
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
      `${param} must be a UTC range HH:MM-HH:MM with different start and end, e.g. "08:00-18:00", or "" for always.`,
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
        'password or white space, or "" for none.',
    );
  }
  return value;
};

export const readModels = readList(`a model slug of 1 to ${LONGEST_SLUG} characters`, (item) =>
  !isLonger(item, LONGEST_SLUG) && item !== '' && item === item.trim() && !CONTROL.test(item)
    ? item
    : undefined,
);

export const readCategories = readList(`one of ${CATEGORIES.join(', ')}`, (item): Category | undefined =>
  CATEGORIES.find((category) => category === item),
);

export const readIps = readList(
  'an IPv4 or IPv6 address or CIDR range, e.g. "203.0.113.7" or "2001:db8::/32"',
  normaliseRange,
);

export const readOrigins = readList(
  'an origin such as "https://app.example.com", "https://*.example.com" or "example.com"',
  parseOriginRule,
);

export const readCountries = readList('an ISO 3166-1 alpha-2 country code, e.g. "DE"', normaliseCountry);

/** A list of texts in the order given, each normalised, what comes twice kept once. */
function readList<T extends string>(
  wanted: string,
  normalise: (item: string) => T | undefined,
): FieldReader<readonly T[]> {
  return (param, value) => {
    if (!Array.isArray(value)) throw invalidField(param, `${param} must be a list; [] for no restriction.`);
    if (value.length > MOST_ITEMS) {
      throw invalidField(param, `${param} may have at most ${MOST_ITEMS} items; it has ${value.length}.`);
    }
    const items = value.map((item: unknown, index) => {
      const normalised = isText(item) ? normalise(item) : undefined;
      if (normalised !== undefined) return normalised;
      throw invalidField(param, `Item ${index + 1} of ${param}, ${shown(item)}, is not ${wanted}.`);
    });
    return [...new Set(items)];
  };
}

function isWebhookUrl(value: unknown): value is string {
  if (!isText(value) || isLonger(value, LONGEST_WEBHOOK_URL) || /[\s\p{Cc}\\]/u.test(value)) return false;
  // The URL parser takes `http:host` and drops an empty `user@`; what is stored is to be read in one way only.
  const authority = /^https?:\/\/([^/?#]+)/i.exec(value)?.[1];
  return authority !== undefined && !authority.includes('@') && URL.canParse(value);
}

/** A string without lone surrogates, which no UTF-8 text and so no database can hold. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** True where a text has more than `most` characters (code points, not UTF-16 units). */
export function isLonger(text: string, most: number): boolean {
  return text.length > 2 * most || (text.length > most && Array.from(text).length > most);
}

/** A value short enough for an error message. */
function shown(value: unknown): string {
  if (typeof value !== 'string')
    return value === null ? 'null' : `a ${Array.isArray(value) ? 'list' : typeof value}`;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
