import type { FastifyRequest } from 'fastify';
import { invalidField } from '../domain/errors.ts';

/** One version, with quotes (an entity tag of RFC 9110) or without, or `*`. */
export const IF_MATCH = /^(\*|"\d{1,15}"|\d{1,15})$/;

/**
 * The version on which a change is built, by the header `If-Match` (specification section 2); undefined: on any. Throws
 * `invalid_field` for what names no single version.
 */
export function ifMatch(request: FastifyRequest): number | undefined {
  const value = request.headers['if-match'];
  if (value === undefined || value === '*') return undefined;
  if (!IF_MATCH.test(value)) {
    throw invalidField('If-Match', 'If-Match must be the version of the key, such as "3", or *.');
  }
  return Number(value.replaceAll('"', ''));
}
