import type { FastifyRequest } from 'fastify';
import { invalidJson } from '../../domain/errors.ts';
import type { Endpoint } from '../endpoints.ts';
import { InspectedNames } from './json/inspected-names.ts';
import { type ReadJson, readJson } from './json/json-reader.ts';

/**
 * Whether a body is read as JSON or as a form. The endpoint decides, whatever the Content-Type says, unless it takes both.
 */
export function isJson({ headers }: FastifyRequest, { body }: Endpoint): boolean {
  return body === 'json' || (body === 'either' && !isForm(headers['content-type']));
}

/** The one pass over the bytes of a JSON body in memory (specification section 4). Throws GatewayError. */
export function readJsonBody(body: unknown): ReadJson {
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw invalidJson('The request body is empty. Send a JSON object.');
  return readJson(body, new InspectedNames());
}

function isForm(contentType = ''): boolean {
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase() === 'multipart/form-data';
}
