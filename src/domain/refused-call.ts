import type { ErrorCode, RefusalDetail } from './errors.ts';
import type { Category } from './key.ts';

/** Code of a refused call: an error, or `client_left` if the client left while its call waited for room in limits. */
export type RefusedCode = ErrorCode | 'client_left';

/** A call that the gateway refused. It involves no money, so its record lies outside the ledger. */
export interface RefusedCall {
  /** The request id (`x-request-id`). */
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
  /** Arrival, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The request's name for it, truncated; null if the call was refused before its body was read. */
  readonly model: string | null;
  /** The model's name in the catalog, by which refusals are summed; null if it has none. */
  readonly slug: string | null;
  readonly category: Category | null;
  readonly endpoint: string;
  readonly streamed: boolean | null;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly code: RefusedCode;
  readonly message: string;
  readonly param: string | null;
  readonly durationMs: number;
  readonly userAgent: string | null;
  readonly detail: RefusalDetail | null;
}

/** Longest message, model and user agent of a recorded call, in characters. */
export const LONGEST_MESSAGE = 300;
export const LONGEST_MODEL = 200;
/** Longest code and param, in characters: a provider's can be anything. */
export const LONGEST_NAME = 100;
const LONGEST_USER_AGENT = 120;
const UNPRINTABLE = /[^\x20-\x7e]/g;

/** Truncates a text and replaces what PostgreSQL can't store, which would block the whole batch. */
export function recordedText(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replaceAll('\0', '');
}

/** Recorded form of the User-Agent header; null if none was sent. */
export function recordedUserAgent(header: string | undefined): string | null {
  if (header === undefined) return null;
  return header.slice(0, LONGEST_USER_AGENT).replace(UNPRINTABLE, '') || null;
}
