import type { ClaimedAlert } from '../book/book.ts';
import { VERSION } from '../config/version.ts';
import { creditsNumber } from '../domain/credits.ts';
import { signatureHeaders } from './sign.ts';

/**
 * Headers and body of a low-credits alert (specification section 6), signed for the time `at`, in milliseconds since
 * the epoch. A test alert has the body of a real one, and the header `webhook-test: true` besides.
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
