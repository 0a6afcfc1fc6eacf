import { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import { NoCloudCredential } from './cloud-credentials.ts';

/** Thrown when a call exceeds `limits.requestTimeoutMs`. */
export class RequestTimeout extends Error {
  constructor() {
    super('the call took too long');
  }
}

const TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What the client is told of errors that have a reason of their own. */
const FAULTS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'sent more than 64 KiB of response headers',
};

/** Whether an error of undici or the gateway is a timeout. */
export function isTimeout(error: Error): boolean {
  return error instanceof RequestTimeout || TIMEOUTS.has((error as NodeJS.ErrnoException).code ?? '');
}

/** Whether no connection to the upstream was made. */
export function isUnreached(error: Error): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // Node has one error for all addresses of a name.
  return UNREACHED.has(code) || syscall === 'connect' || error instanceof AggregateError;
}

/** Node's and OpenSSL's codes of a handshake that failed; those of a certificate have no prefix in common. */
const TLS_CODE = /^ERR_(?:TLS|SSL)|^EPROTO$|CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/;

/** Whether the upstream's TLS failed, or its certificate was not verified. */
export function isTlsFailure(error: Error): boolean {
  return TLS_CODE.test((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * The client's refusal and the ledger's outcome for a call that failed with this error. `isCharged`: the possible
 * provider bill is charged, so a retry after a timeout could be charged again.
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
    : (FAULTS[code] ?? 'could not be reached or closed the connection');
  const refusal = new GatewayError('upstream_unavailable', `The model provider ${what}. ${charged}`);
  return [refusal, isUnreached(error) || isTlsFailure(error) ? 'upstream_unreachable' : 'upstream_broke'];
}

/**
 * The error for an upstream status that concerns the gateway, not the client (specification section 4): 401 and 403
 * refuse the gateway's credential, a redirect would send it elsewhere, and HTTP has no status 600. Undefined for forwarded
 * statuses.
 */
export function unforwardableStatus(statusCode: number): GatewayError | undefined {
  if (statusCode === 401 || statusCode === 403) return credentialRefused();
  if (statusCode >= 200 && statusCode < 600 && (statusCode < 300 || statusCode >= 400)) return undefined;
  const what =
    statusCode < 400 ? 'a redirect, which the gateway does not follow' : 'a status that is not of HTTP';
  return new GatewayError('upstream_unavailable', `The model provider returned ${what}.`);
}

function credentialRefused(): GatewayError {
  const message = 'The model provider rejected the credential of this gateway. The operator must replace it.';
  return new GatewayError('upstream_auth_failed', message);
}

/** The error for an unrequested encoding that the gateway can't read. */
export function undecodable(): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    "The model provider used a content encoding that the gateway did not request and can't decode.",
  );
}
