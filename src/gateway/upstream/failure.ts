import { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';

/** Thrown where a call took longer than `limits.requestTimeoutMs`, so that the gateway gave it up. */
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
  const charged = isCharged ? 'What it may have billed was charged.' : 'Nothing was charged.';
  if (isTimeout(error)) {
    const message = `The model provider did not answer in time. ${charged}`;
    return [
      new GatewayError('upstream_timeout', message, null, undefined, { isFinal: isCharged }),
      'timeout',
    ];
  }
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const what = isCharged ? 'broke off its answer' : 'could not be reached, or broke off';
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
export function unfitStatus(statusCode: number): GatewayError | undefined {
  if (statusCode === 401 || statusCode === 403) {
    return new GatewayError(
      'upstream_auth_failed',
      'The model provider refused the credential of this gateway. Its operator must renew it.',
    );
  }
  if (statusCode >= 200 && (statusCode < 300 || statusCode >= 400)) return undefined;
  return new GatewayError(
    'upstream_unavailable',
    'The model provider answered with a redirect, which is not followed.',
  );
}
