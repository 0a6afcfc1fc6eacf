import type { Model, Upstream } from '../../domain/catalog.ts';
import { withoutInvisible } from '../../domain/invisible.ts';
import { firstCharacters } from '../../domain/refused-call.ts';
import type { Cause } from '../../domain/target-cause.ts';
import { isObject } from '../../metering/json/value.ts';
import { NoCloudCredential } from '../upstream/cloud-credentials.ts';
import { shownError } from '../upstream/credential.ts';
import type { UpstreamAnswer } from '../upstream/exchange.ts';
import { isTimeout, isTlsFailure, isUnreached } from '../upstream/failure.ts';
import type { TargetFailure } from './target-health.ts';

const MS_PER_S = 1_000;

/** Statuses with which a call goes to the next target. Those from 520 on are a content delivery network's. */
const HANDED_OVER: ReadonlySet<number> = new Set([
  401, 403, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 529, 530,
]);

/** Whether a call goes to the next target with this status. */
export function isHandedOver(status: number): boolean {
  return HANDED_OVER.has(status);
}

/** The cause of a failure with this status; undefined: the target did not fail. */
export function causeOf(status: number): Cause | undefined {
  if (status === 401) return 'credential';
  if (status === 403) return 'forbidden';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate_limit';
  return status >= 500 ? 'error' : undefined;
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
    cause: causeOf(status) ?? 'error',
    error: words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`,
    retryAfterMs: retryAfterMs(headers),
  };
}

/** The failure of a target that did not answer. */
export function failureOfConnection(error: Error, { upstream }: Pick<Model, 'upstream'>): TargetFailure {
  const { code = '' } = error as NodeJS.ErrnoException;
  const message = error.message.replace(NODE_ADVICE, '');
  return { status: null, cause: causeOfError(error), error: wordsOf(message || code, upstream) };
}

/** Node's advice on a certificate, for an option that the gateway lacks; `ca` of the upstream is the way. */
const NODE_ADVICE = /; if the root CA is installed locally.*$/;

function causeOfError(error: Error): Cause {
  if (error instanceof NoCloudCredential) return 'credential';
  if (isTlsFailure(error)) return 'tls';
  if (isTimeout(error)) return 'timeout';
  return isUnreached(error) ? 'connection' : 'error';
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
