import type { ErrorCode, RefusalDetail } from './errors.ts';
import type { Category } from './key.ts';
import { maskKeys } from './mask-keys.ts';

/** A call that the gateway refused. It involves no money, so its record lies outside the ledger. */
export interface RefusedCall {
  /** The request id (`x-request-id`). */
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
  /** Arrival, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Its name in the catalog, else in the request; null if the call was refused before its body was read. */
  readonly model: string | null;
  readonly category: Category | null;
  readonly endpoint: string;
  readonly streamed: boolean | null;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  readonly durationMs: number;
  readonly userAgent: string | null;
  readonly detail: RefusalDetail | null;
}

/** Longest text of a recorded call, in code points. */
const LONGEST_RECORDED = 300;
/** Longest text that is searched for key values, in UTF-16 units. */
const LONGEST_SEARCHED = 4 * LONGEST_RECORDED;
const UNPRINTABLE = /[^\x20-\x7e]/g;

/**
 * Makes the texts of a record fit to be kept: masks key values, cuts each text to LONGEST_RECORDED code points, and
 * removes what PostgreSQL can't store, which would block the whole batch.
 */
export function recorded<T extends object>(record: T, keyPrefix: string): T {
  const fields = Object.entries(record).map(([name, value]) => [name, recordedValue(value, keyPrefix)]);
  return Object.fromEntries(fields) as T;
}

function recordedValue(value: unknown, keyPrefix: string): unknown {
  if (typeof value === 'object' && value !== null) return recorded(value, keyPrefix);
  if (typeof value !== 'string') return value;
  const text = maskKeys(value.slice(0, LONGEST_SEARCHED), keyPrefix).replaceAll('\0', '');
  return firstCharacters(text).toWellFormed();
}

/** Cuts a text to LONGEST_RECORDED code points. */
export function firstCharacters(text: string): string {
  if (text.length <= LONGEST_RECORDED) return text;
  return Array.from(text.slice(0, 2 * LONGEST_RECORDED))
    .slice(0, LONGEST_RECORDED)
    .join('');
}

/** Printable part of the User-Agent header; null if nothing was sent. */
export function recordedUserAgent(header: string | undefined): string | null {
  return header?.replace(UNPRINTABLE, '') || null;
}
