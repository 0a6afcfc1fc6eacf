import type { FastifyRequest } from 'fastify';
import { type Catalog, type Model, modelIn, modelOf } from '../../domain/catalog.ts';
import { GatewayError, invalidField, invalidJson } from '../../domain/errors.ts';
import { isObject } from '../../metering/json/value.ts';
import { COUNTS, type ParsedRequest, type RequestFacts } from '../../metering/meter.ts';
import type { ReportHints } from '../../metering/plan.ts';
import type { Call } from '../call.ts';
import { ENDPOINTS, type Endpoint, serves } from '../endpoints.ts';
import { type ReadJson, readJson } from './json/json-reader.ts';
import { INSPECTED_FIELDS, InspectedNames } from './members.ts';
import { modelNotFound } from './model-not-found.ts';

/**
 * Check 9 of specification section 3: the body names a model of the catalog that fits the endpoint, and every field
 * that decides kind or cost has the right type. Throws GatewayError.
 */
export function checkJsonBody(
  read: ReadJson,
  value: Record<string, unknown>,
  catalog: Catalog,
  call: Pick<Call, 'endpoint' | 'deployment' | 'compiled'>,
): ParsedRequest {
  const model = modelNamed(nameIn(value, call), catalog, call);
  for (const name of COUNTS) checkCount(name, value[name]);
  const stream = value.stream ?? false;
  if (typeof stream !== 'boolean') throw invalidField('stream', 'stream must be true or false.');
  return {
    kind: 'json',
    model,
    value,
    scalars: value,
    isStream: stream,
    textBytes: read.size,
    files: 0,
    audio: undefined,
    elidedStrings: read.elidedStrings,
    hints: undefined,
  };
}

/** The model that a call asks for: the address decides, else the body. */
export function nameIn(
  value: Readonly<Record<string, unknown>>,
  { deployment }: Pick<Call, 'deployment'>,
): unknown {
  return deployment ?? (Object.hasOwn(value, 'model') ? value.model : undefined);
}

/**
 * Reduces a body to what stays in memory during the call: inspected scalars, and inspected lists and objects without
 * their content. `hints`: findings of its meter.
 */
export function factsOf(
  { value, elidedStrings, ...facts }: ParsedRequest,
  hints: ReportHints | undefined,
): RequestFacts {
  const scalars: Record<string, unknown> = {};
  for (const name in value) {
    if (!INSPECTED_FIELDS.has(name)) continue;
    const member = value[name];
    scalars[name] = Array.isArray(member) ? [] : isObject(member) ? {} : member;
  }
  elidedStrings?.keepOnly(Object.values(scalars));
  return { ...facts, scalars, elidedStrings, hints };
}

/**
 * Returns the requested model, with its targets in the endpoint's format. Throws the GatewayError of check 9 if the
 * catalog has none for the endpoint.
 */
export function modelNamed(
  name: unknown,
  catalog: Catalog,
  { endpoint, compiled }: Pick<Call, 'endpoint' | 'compiled'>,
): Model {
  if (name === undefined || name === '' || name === null) {
    throw new GatewayError(
      'model_required',
      'model is required. Set it to the name of a model from GET /v1/models.',
      'model',
    );
  }
  if (typeof name !== 'string') throw invalidField('model', 'model must be a string: the name of a model.');
  const model = modelOf(catalog, name);
  if (!model) throw modelNotFound(name, catalog, compiled);
  const fit = model.category === endpoint.category ? modelIn(model, endpoint.format) : undefined;
  if (!fit) throw mismatch(model, endpoint);
  return fit;
}

function mismatch(model: Model, { path }: Endpoint): GatewayError {
  const paths = ENDPOINTS.filter((endpoint) => serves(endpoint, model)).map((endpoint) => endpoint.path);
  const instead =
    paths.length === 0 ? 'No endpoint of this gateway serves it' : `Call it at ${OR.format(paths)}`;
  return new GatewayError(
    'endpoint_mismatch',
    `The model ${model.slug} can't be called at ${path}. ${instead}.`,
    'model',
  );
}

const OR = new Intl.ListFormat('en', { type: 'disjunction' });

/** Throws 400 `invalid_field` unless the value is absent or a non-negative safe integer. */
export function checkCount(name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalidField(name, `${name} must be a whole number of at least 0.`);
  }
}

/**
 * Whether to read a body as JSON or as a form. The endpoint decides, whatever the Content-Type, unless it takes both.
 */
export function isJson({ headers }: FastifyRequest, { body }: Endpoint): boolean {
  return body === 'json' || (body === 'either' && !isForm(headers['content-type']));
}

/** Scans a JSON body in memory, in one pass (specification section 4). Throws GatewayError. */
export function readJsonBody(body: unknown): ReadJson {
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw invalidJson('The request body is empty. Send a JSON object.');
  return readJson(body, new InspectedNames());
}

function isForm(contentType = ''): boolean {
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase() === 'multipart/form-data';
}
