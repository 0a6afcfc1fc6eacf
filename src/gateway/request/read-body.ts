import type { FastifyRequest } from 'fastify';
import type { Catalog } from '../../domain/catalog.ts';
import { type ByteSource, inMemory } from '../../metering/byte-source.ts';
import type { Endpoint } from '../endpoints.ts';
import type { CallBody } from './call-body.ts';
import { readFormBody } from './form/form-body.ts';
import { readJsonInPieces } from './json/json-in-pieces.ts';
import { measureJson, UNMEASURED_BYTES } from './json/json-measure.ts';
import { readJsonBody } from './json-body.ts';
import { checkEncoding } from './request-head.ts';
import { Spool } from './spool/spool.ts';

/**
 * The source of a body that must be read in pieces, so that other calls run in between: one in a file, or JSON of very
 * many parts. Undefined for a body that is read at once. Throws 413 `body_too_large` for JSON with more parts than
 * `MAX_PARTS`.
 */
export function sourceInPieces(request: FastifyRequest, endpoint: Endpoint): ByteSource | undefined {
  const { body } = request;
  if (body instanceof Spool) return body;
  if (!Buffer.isBuffer(body) || body.length <= UNMEASURED_BYTES || !isJson(request, endpoint))
    return undefined;
  return measureJson(body).isHeavy ? inMemory(body) : undefined;
}

/**
 * Check 9 of specification section 3. The endpoint decides whether the body is read as JSON or as a form, whatever its
 * Content-Type says. `source` is the result of `sourceInPieces`. The whole body is checked before any of it goes
 * upstream, be it in memory or in a file. Throws GatewayError.
 */
export async function readBody(
  request: FastifyRequest,
  source: ByteSource | undefined,
  catalog: Catalog,
  endpoint: Endpoint,
): Promise<CallBody> {
  checkEncoding(request.headers);
  const { body } = request;
  if (!isJson(request, endpoint))
    return await readFormBody(body, request.headers['content-type'], catalog, endpoint);
  return source ? await readJsonInPieces(source, catalog, endpoint) : readJsonBody(body, catalog, endpoint);
}

function isJson(request: FastifyRequest, { body }: Endpoint): boolean {
  return body === 'json' || (body === 'either' && !isForm(request));
}

function isForm({ headers }: FastifyRequest): boolean {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase() === 'multipart/form-data';
}
