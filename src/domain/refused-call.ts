import type { ErrorCode, RefusalDetail } from './errors.ts';
import type { Category } from './key.ts';

/** Code of a refused call: an error, or `client_left` if the client left while its call waited for room in limits. */
export type RefusedCode = ErrorCode | 'client_left';

/** A call that the gateway refused. It is no money, and is recorded beside the ledger. */
export interface RefusedCall {
  /** The request id (`x-request-id`). */
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
  /** When it came in, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** As the request named it, cut; null: the refusal came before the body was read. */
  readonly model: string | null;
  /** The model's name in the catalog, by which refusals are summed; null: it has none. */
  readonly slug: string | null;
  readonly category: Category | null;
  readonly endpoint: string;
  readonly streamed: boolean | null;
  /** HTTP status that it was answered with. */
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

/** A text of a record, cut, without what PostgreSQL does not store: one such text would block its batch. */
export function recordedText(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replaceAll('\0', '');
}

/** The User-Agent header as it is recorded; null if none was sent. */
export function recordedUserAgent(header: string | undefined): string | null {
  if (header === undefined) return null;
  return header.slice(0, LONGEST_USER_AGENT).replace(UNPRINTABLE, '') || null;
}
