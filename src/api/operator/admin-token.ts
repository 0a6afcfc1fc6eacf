import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';

/**
 * Makes a check that is true for requests with the operator's token, `Authorization: Bearer <ADMIN_TOKEN>`. It compares
 * digests, which all have one length, so that the time it takes does not show how much of a guess is right.
 */
export function adminTokenCheck(token: string): (request: FastifyRequest) => boolean {
  const expected = sha256(token);
  return (request) => {
    const [, sent] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    return sent !== undefined && timingSafeEqual(sha256(sent), expected);
  };
}

/** The refusal of a request that needs the operator's token and has another one or none. */
export function invalidAdminToken(): GatewayError {
  return new GatewayError(
    'invalid_admin_token',
    'This route requires the operator token. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  );
}

/** The refusal on the operator's routes if ADMIN_TOKEN is not set: that of an unknown route. */
export function noSuchRoute(): GatewayError {
  return new GatewayError('unknown_endpoint', 'This endpoint does not exist.');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
