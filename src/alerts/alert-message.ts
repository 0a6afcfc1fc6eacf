import type { ClaimedAlert } from '../book/book.ts';
import { VERSION } from '../config/version.ts';
import { creditsNumber } from '../domain/credits.ts';
import { signatureHeaders } from './sign.ts';

/**
 * The low-credits alert as it goes over the wire (specification section 6). A test alert
 * has the same body and is marked by the header `webhook-test: true`. `at` is in milliseconds since the epoch.
 */
export function alertMessage(
  alert: ClaimedAlert,
  keyId: number,
  at: number,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({
    event: 'low_credits',
    user_email: alert.email,
    credits_balance: creditsNumber(alert.creditsBalance),
  });
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Tollgate/${VERSION}`,
    ...signatureHeaders(alert.webhookSecret, `msg_${alert.id}_${keyId}`, at, body),
    ...(alert.test ? { 'webhook-test': 'true' } : {}),
  };
  return { headers, body };
}
