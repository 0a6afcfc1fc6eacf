import type { FastifyRequest } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import { readJsonBody } from './body.ts';
import type { CallBody } from './call-body.ts';
import type { Endpoint } from './endpoints.ts';
import { readFormBody } from './form/form-body.ts';
import { readSpooledJson } from './json/spooled-json.ts';
import { checkEncoding } from './request-head.ts';
import { Spool } from './upload/spool.ts';

/**
 * Check 9 of contract section 3, by the kind of body that the endpoint takes, whatever the request calls it. Throws
 * GatewayError.
 *
 * A small body is in memory, a large one in a file of which only a window is. Either way it is judged whole before any
 * of it goes upstream.
 */
export function readBody(
  request: FastifyRequest,
  catalog: Catalog,
  endpoint: Endpoint,
): CallBody | Promise<CallBody> {
  checkEncoding(request.headers);
  const { body } = request;
  if (endpoint.body !== 'json' && (endpoint.body !== 'either' || isForm(request)))
    return readFormBody(body, request.headers['content-type'], catalog, endpoint);
  return body instanceof Spool
    ? readSpooledJson(body, catalog, endpoint)
    : readJsonBody(body, catalog, endpoint);
}

function isForm({ headers }: FastifyRequest): boolean {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase() === 'multipart/form-data';
}
