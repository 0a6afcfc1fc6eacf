import { CALL_LIMIT_FIELDS, type CallLimits } from '../../domain/call-limits.ts';
import { MAX_CREDITS, type Micro, microFromCredits } from '../../domain/credits.ts';
import { cutShort, GatewayError, invalidField } from '../../domain/errors.ts';
import { isLonger, readCallLimit } from '../../domain/key-readers.ts';

/** Returns a request body as an object that has only `fields`. Throws `invalid_json` or `invalid_field`. */
export function objectBody(body: unknown, fields: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GatewayError('invalid_json', 'The request body must be a JSON object.');
  }
  for (const name of Object.keys(body)) {
    if (!fields.includes(name)) {
      const shown = cutShort(name);
      throw invalidField(
        shown,
        `${JSON.stringify(shown)} is not a supported field. Supported fields: ${fields.join(', ')}.`,
      );
    }
  }
  return body as Readonly<Record<string, unknown>>;
}

/** Parses a number of credits with at most six decimals, of either sign. Throws `invalid_field`. */
export function creditsField(name: string, value: unknown): Micro {
  const amount = typeof value === 'number' ? microFromCredits(value) : undefined;
  if (amount === undefined) {
    throw invalidField(
      name,
      `${name} must be a number of credits with at most six decimals, up to ${MAX_CREDITS}.`,
    );
  }
  return amount;
}

/** Parses a number of credits, 0 or more, with at most six decimals. Throws `invalid_field`. */
export function positiveCreditsField(name: string, value: unknown): Micro {
  const amount = creditsField(name, value);
  if (amount < 0) throw invalidField(name, `${name} must not be negative.`);
  return amount;
}

/** Parses text of at most `maxLength` characters. Throws `invalid_field`. */
export function textField(name: string, value: unknown, maxLength: number): string {
  // PostgreSQL can't store U+0000, and UTF-8 can't encode half a surrogate pair.
  if (
    typeof value !== 'string' ||
    isLonger(value, maxLength) ||
    value.includes('\0') ||
    !value.isWellFormed()
  ) {
    throw invalidField(name, `${name} must be a string of at most ${maxLength} characters.`);
  }
  return value;
}

/** Maximum length of a mail address (RFC 5321, section 4.5.3.1.3 with erratum 1690). */
export const LONGEST_EMAIL = 254;

/**
 * Parses an e-mail address, stored as sent. Rejects only clear mistakes: it requires one @ with text on both sides, and
 * no spaces or control characters. No pattern can prove that mail arrives. Throws `invalid_field`.
 */
export function emailField(value: unknown): string {
  if (
    typeof value === 'string' &&
    !isLonger(value, LONGEST_EMAIL) &&
    /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(value)
  ) {
    return value;
  }
  throw invalidField(
    'email',
    `email must be an email address of at most ${LONGEST_EMAIL} characters, such as owner@example.com.`,
  );
}

/** Parses the call limits in a body; absent ones stay absent. Throws `invalid_field`. */
export function readCallLimits(body: Readonly<Record<string, unknown>>): Partial<CallLimits> {
  const limits: { -readonly [Limit in keyof CallLimits]?: CallLimits[Limit] } = {};
  for (const limit of Object.keys(CALL_LIMIT_FIELDS) as (keyof CallLimits)[]) {
    const field = CALL_LIMIT_FIELDS[limit];
    const value = body[field];
    if (value !== undefined) limits[limit] = readCallLimit(field, value);
  }
  return limits;
}
