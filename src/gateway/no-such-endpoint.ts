import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';

export function noSuchEndpoint(request: FastifyRequest): GatewayError {
  return new GatewayError('unknown_endpoint', `There is no ${request.method} ${pathOf(request.url)} here.`);
}

/** Without the query: a key that somebody put there must not come back in an answer. */
function pathOf(url: string): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? '';
}
