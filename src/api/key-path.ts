import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';
import { pathId } from './query.ts';

/** The answer for an unknown id and for a key of another account alike (specification section 2). */
export function keyNotFound(): GatewayError {
  return new GatewayError('key_not_found', 'There is no key with this id in the account.');
}

/** The `key_id` of the path. Throws `key_not_found` for anything that cannot be an id. */
export function keyIdOf(request: FastifyRequest): number {
  const keyId = pathId((request.params as { key_id: string }).key_id);
  if (keyId === undefined) throw keyNotFound();
  return keyId;
}
