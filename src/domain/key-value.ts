import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Random characters of a key: 32 of 62 are 190 bits. */
const RANDOM_LENGTH = 32;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
/** Characters of the random part in the visible prefix (specification section 2). */
const SHOWN_LENGTH = 4;

interface NewKeyValue {
  /** Shown once, in the created-key response; stored nowhere. */
  readonly value: string;
  /** Identifies the key without revealing it. */
  readonly prefix: string;
  /** `hashKey(value)`. */
  readonly hash: string;
}

/** A new key value: `<KEY_PREFIX>` + 32 random base62 characters + checksum (specification section 2). */
export function newKeyValue(prefix: string): NewKeyValue {
  // randomInt draws again rather than taking a remainder, so that no character is likelier than another.
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join(
    '',
  );
  const body = prefix + random;
  const value = body + checksum(body);
  return { value, prefix: prefix + random.slice(0, SHOWN_LENGTH), hash: hashKey(value) };
}

/**
 * Checks prefix, length, alphabet and checksum. Takes a microsecond and no lookup, and distinguishes a mistyped or
 * truncated key from an unknown one. Never throws.
 */
export function isWellFormed(value: unknown, prefix: string): value is string {
  if (typeof value !== 'string' || value.length !== prefix.length + RANDOM_LENGTH + CHECKSUM_LENGTH)
    return false;
  if (!value.startsWith(prefix) || !/^[0-9A-Za-z]+$/.test(value.slice(prefix.length))) return false;
  return value.slice(-CHECKSUM_LENGTH) === checksum(value.slice(0, -CHECKSUM_LENGTH));
}

const AROUND = /[\s"'`]/;

/** A value as it was meant: without the quotes, `Bearer` and white space that were copied with it. */
export function pastedValue(text: string): string {
  let end = text.length;
  // A pattern for the end would take quadratic time.
  while (end > 0 && AROUND.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(/^(?:[\s"'`]|Bearer(?!\S))+/i, '');
}

/** SHA-256 in hex, the only stored form of a key. A plain hash suffices, because the value is random. */
export function hashKey(value: string): string {
  return hash('sha256', value);
}

/** CRC-32 in base62, most significant digit first. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
