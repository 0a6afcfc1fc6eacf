import type { FastifyRequest } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import { readJsonBody } from './body.ts';
import type { CallBody } from './call-body.ts';
import type { Endpoint } from './endpoints.ts';
import { readFormBody } from './form/form-body.ts';

/**
 * Check 9 of contract section 3, by the kind of body that the endpoint takes, whatever the request calls it. Throws
 * GatewayError.
 *
 * An upload is in memory once, up to `bodyLimitMb`, because it is judged whole before any of it goes upstream; it may be
 * spooled to disk one day. It is there twice only for the instant in which a form is given another model name.
 */
export function readBody(
  request: FastifyRequest,
  catalog: Catalog,
  endpoint: Endpoint,
): CallBody | Promise<CallBody> {
  if (endpoint.body === 'json') return readJsonBody(request.body, catalog, endpoint);
  return readFormBody(request.body, request.headers['content-type'], catalog, endpoint);
}
