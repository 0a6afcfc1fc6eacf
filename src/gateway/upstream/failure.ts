import { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import { NoCloudCredential } from './cloud-credentials.ts';

/** Thrown if a call took longer than `limits.requestTimeoutMs`, so that the gateway gave it up. */
export class RequestTimeout extends Error {
  constructor() {
    super('the call took too long');
  }
}

const TIMEOUTS: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** True for an error of undici, or of the gateway, that says that something took too long. */
export function isTimeout(error: Error): boolean {
  return error instanceof RequestTimeout || TIMEOUTS.has((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * The refusal for the client and the ledger's outcome for a call that failed with this error. `isCharged`: what the provider
 * may have billed is charged, so a repeat after a timeout could be charged again.
 */
export function failureOf(error: Error, isCharged: boolean): [GatewayError, Outcome] {
  const charged = isCharged
    ? 'You were charged an estimate of what it may have billed.'
    : 'You were not charged.';
  if (isTimeout(error)) {
    const message = `The model provider did not respond in time. ${charged}`;
    return [
      new GatewayError('upstream_timeout', message, null, undefined, { isFinal: isCharged }),
      'timeout',
    ];
  }
  if (error instanceof NoCloudCredential) return [credentialRefused(), 'upstream_unreachable'];
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const what = isCharged
    ? 'stopped in the middle of its response'
    : 'could not be reached or closed the connection';
  const refusal = new GatewayError('upstream_unavailable', `The model provider ${what}. ${charged}`);
  return [
    refusal,
    UNREACHED.has(code) || code.startsWith('ERR_TLS') || code.includes('CERT')
      ? 'upstream_unreachable'
      : 'upstream_broke',
  ];
}

/**
 * The error for an upstream's status that concerns the gateway and not the client (specification section 4): 401 and
 * 403 refuse the gateway's credential, and a redirect would send it elsewhere. Undefined for any status that is passed
 * on.
 */
export function unforwardableStatus(statusCode: number): GatewayError | undefined {
  if (statusCode === 401 || statusCode === 403) return credentialRefused();
  if (statusCode >= 200 && (statusCode < 300 || statusCode >= 400)) return undefined;
  return new GatewayError(
    'upstream_unavailable',
    'The model provider returned a redirect, which the gateway does not follow.',
  );
}

function credentialRefused(): GatewayError {
  const message = 'The model provider rejected the credential of this gateway. The operator must replace it.';
  return new GatewayError('upstream_auth_failed', message);
}

/** The error for an answer in an encoding that was not asked for and that the gateway cannot read. */
export function undecodable(): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    "The model provider used a content encoding that the gateway did not request and can't decode.",
  );
}
