import type { Catalog } from '../../src/domain/catalog.ts';
import type { Endpoint } from '../../src/gateway/endpoints.ts';
import { checkJsonBody, type JsonBody } from '../../src/gateway/request/json-body.ts';
import { readJsonBody } from '../../src/gateway/request/read-body.ts';

/** A body in memory as the pipeline reads it. Throws the refusal. */
export function jsonBodyOf(bytes: Buffer, catalog: Catalog, endpoint: Endpoint): JsonBody {
  const read = readJsonBody(bytes);
  return checkJsonBody(read, read.parse(), bytes, catalog, endpoint);
}
