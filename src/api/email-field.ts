import { invalidField } from '../domain/errors.ts';
import { isLonger } from '../domain/key-fields.ts';

/** RFC 5321, section 4.5.3.1.3 with erratum 1690: the longest address that mail can be sent to. */
export const LONGEST_EMAIL = 254;

/**
 * An e-mail address as it is stored: as it was sent. Checked for what would surely be a slip only (one @ with text on
 * both sides, no spaces or control characters); whether mail arrives there, no pattern can tell. Throws
 * `invalid_field`.
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
    `email must be an address such as owner@example.com, at most ${LONGEST_EMAIL} characters.`,
  );
}
