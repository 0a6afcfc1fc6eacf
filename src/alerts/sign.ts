import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/**
 * A new signing secret for an account: `whsec_` and 32 random bytes in base64 (Standard Webhooks asks for 24 to 64).
 */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks. `id` names the delivery
 * and does not change when it is signed again. `at` is in milliseconds since the epoch. Throws where `secret` is not
 * base64.
 */
export function signatureHeaders(
  secret: string,
  id: string,
  at: number,
  body: string,
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
  };
}
