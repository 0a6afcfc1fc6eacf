import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';

/**
 * Makes the check whether a request carries the operator's token, `Authorization: Bearer <ADMIN_TOKEN>`. Digests are
 * compared, not texts: they have one length, and the time taken does not tell how much of a guess was right.
 */
export function adminTokenCheck(token: string): (request: FastifyRequest) => boolean {
  const expected = sha256(token);
  return (request) => {
    const [, sent] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    return sent !== undefined && timingSafeEqual(sha256(sent), expected);
  };
}

/** The refusal where the operator's token is needed and another, or none, was sent. */
export function invalidAdminToken(): GatewayError {
  return new GatewayError(
    'invalid_admin_token',
    'This route needs the operator token. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  );
}

/** The refusal where the operator's API is switched off: as if the route were not there. */
export function noSuchRoute(): GatewayError {
  return new GatewayError('unknown_endpoint', 'There is no such endpoint.');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
