import type { Model, Upstream } from '../../domain/catalog.ts';
import { withoutInvisible } from '../../domain/invisible.ts';
import { firstCharacters } from '../../domain/refused-call.ts';
import { isObject } from '../../metering/json/value.ts';
import { NoCloudCredential } from '../upstream/cloud-credentials.ts';
import { shownError } from '../upstream/credential.ts';
import type { UpstreamAnswer } from '../upstream/exchange.ts';
import { REFUSED_OUT_MS, type TargetFailure } from './target-health.ts';

const MS_PER_S = 1_000;

/** Statuses of a provider that can't serve the call now. */
const CANNOT: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529]);
/** Statuses that refuse the gateway's credential. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** Whether a status is the target's failure, not the call's. */
export function isTargetFailure(status: number): boolean {
  return CANNOT.has(status) || REFUSED.has(status);
}

/** The failure for such an answer, with the provider's message. */
export function failureOfAnswer(
  { statusCode: status, headers }: Pick<UpstreamAnswer, 'statusCode' | 'headers'>,
  body: Buffer,
  upstream: Upstream,
): TargetFailure {
  const words = wordsOf(messageOf(body.toString('utf8')), upstream);
  return {
    status,
    error: words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`,
    outMs: REFUSED.has(status) ? REFUSED_OUT_MS : retryAfterMs(headers),
  };
}

/** The failure of a target that did not answer. */
export function failureOfConnection(error: Error, { upstream }: Pick<Model, 'upstream'>): TargetFailure {
  const { code = '' } = error as NodeJS.ErrnoException;
  const isTls = code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code.includes('CERT');
  return {
    status: null,
    error: wordsOf(error.message || code, upstream),
    outMs: isTls || error instanceof NoCloudCredential ? REFUSED_OUT_MS : undefined,
  };
}

/** A provider's text for display: without the credential, on one line, truncated. */
export function wordsOf(text: string, upstream: Upstream): string {
  const bytes = shownError(Buffer.from(text).toString('latin1'), upstream);
  const plain = Buffer.from(bytes, 'latin1').toString('utf8').replace(/\s+/g, ' ');
  return firstCharacters(withoutInvisible(plain).trim());
}

/** The message of an error in either format, else its text. */
export function messageOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const error = isObject(value) ? (value.error ?? value) : undefined;
    if (typeof error === 'string') return error;
    if (isObject(error) && typeof error.message === 'string') return error.message;
  } catch {
    // Not JSON: use the text.
  }
  return text;
}

/** The retry delay that an answer asks for, in milliseconds. */
function retryAfterMs(headers: UpstreamAnswer['headers']): number | undefined {
  const ms = Number(headers['retry-after-ms'] || Number.NaN);
  if (ms >= 0) return ms;
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const seconds = Number(value || Number.NaN);
  if (seconds >= 0) return seconds * MS_PER_S;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
