import type { FastifyRequest } from 'fastify';
import { cutShort, invalidField } from '../../domain/errors.ts';

/**
 * Refuses parameters that are repeated or not in the route's schema (specification section 2), because a misspelt
 * filter must not return everything. Throws `invalid_field`.
 */
export function refuseUnknownParameters(request: FastifyRequest): void {
  const schema = request.routeOptions.schema?.querystring as { readonly properties?: object } | undefined;
  const known = Object.keys(schema?.properties ?? {});
  for (const [name, value] of Object.entries(request.query as object)) {
    if (!known.includes(name)) {
      const shown = cutShort(name);
      const here = known.length > 0 ? `Supported parameters: ${known.join(', ')}.` : 'It has no parameters.';
      throw invalidField(shown, `${JSON.stringify(shown)} is not a query parameter of this route. ${here}`);
    }
    if (Array.isArray(value)) throw invalidField(name, `${name} must not be repeated.`);
  }
}
