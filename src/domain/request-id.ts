import { randomBytes } from 'node:crypto';

const PROCESS = randomBytes(12).toString('base64url');
let count = 0;

/**
 * `x-request-id` and the id of the call's ledger entry: unique over all processes that ever ran (96 random bits a
 * process, then a count). Never taken from the client: it is the idempotency key of the charge.
 */
export function newRequestId(): string {
  count++;
  return `req_${PROCESS}${count.toString(36)}`;
}
