import { isUtf8 } from 'node:buffer';
import type { Catalog, Model } from '../../domain/catalog.ts';
import { GatewayError, invalidField, invalidJson } from '../../domain/errors.ts';
import { foldName, otherCase } from '../../domain/field-names.ts';
import { COUNTS } from '../../metering/metered-body.ts';
import type { Endpoint } from '../endpoints.ts';
import type { CallBody } from './call-body.ts';
import type { ElidedJson } from './json/elide-long-strings.ts';
import { checkNestedNames } from './json/nested-names.ts';
import { type Span, scanMembers } from './json-scan.ts';

/** Names of the fields that checks and holds read. None may be repeated, since an upstream could read the other one. */
export const INSPECTED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'stream',
  'stream_options',
  'prompt',
  'best_of',
  'echo',
  'input',
  'instructions',
  'tools',
  'system',
  'thinking',
  'max_tool_calls',
  'mcp_servers',
  'background',
  'previous_response_id',
  'conversation',
  'container',
  'fallbacks',
  'context_management',
  'compaction',
  'thread',
  'billing_policy',
  'models',
  'fallback_models',
  'moderation',
  'service_tier',
  'speed',
  'inference_geo',
  'cache_control',
  'modalities',
  'audio',
  'web_search_options',
  'plugins',
  'search_parameters',
  'enable_search',
  'compound_custom',
  'functions',
  'reasoning',
  'output_format',
  'svg',
  'seconds',
  'web_search_options',
  'service_tier',
  'speed',
  'inference_geo',
]);

const STREAM_OPTIONS: ReadonlySet<string> = new Set(['include_usage']);

/** A JSON request that passed check 9, with the offsets of the values that may be changed on the way upstream. */
export interface JsonBody extends CallBody {
  readonly kind: 'json';
  /** The text that `spans` and `openAt` point into. */
  readonly text: string;
  /** Defined where `text` is the body without its long strings, because the body is in a file or very complex. */
  readonly elided: ElidedJson | undefined;
  readonly spans: ReadonlyMap<string, Span>;
  readonly openAt: number;
  readonly isEmpty: boolean;
}

/**
 * Check 9 of specification section 3, for a body in memory: it is readable, names a model, and the model is in the
 * catalog and fit for the endpoint. Throws GatewayError.
 */
export function readJsonBody(bytes: unknown, catalog: Catalog, endpoint: Endpoint): JsonBody {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    throw invalidJson('The request has no body. Send a JSON object.');
  if (!isUtf8(bytes)) throw invalidJson('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  return parseJsonBody({ bytes, size: bytes.length, text, value: parseObject(text) }, catalog, endpoint);
}

/** JSON text and its value. `elided` is defined where the text is the body without its long strings. */
interface ReadJson {
  readonly bytes: JsonBody['bytes'];
  readonly size: number;
  readonly text: string;
  readonly value: Record<string, unknown>;
  readonly elided?: ElidedJson;
}

/** Checks the fields that decide what a call is and may cost. Throws the GatewayError of the check that fails. */
export function parseJsonBody(read: ReadJson, catalog: Catalog, endpoint: Endpoint): JsonBody {
  const { bytes, size, text, value, elided } = read;
  const scan = scanMembers(text, INSPECTED_FIELDS);
  if (scan.repeated) {
    throw invalidJson(
      `The body has the field "${scan.repeated}" more than once. Send it once.`,
      scan.repeated,
    );
  }
  // An upstream that ignores the case of names would read a value that was not checked.
  if (scan.otherCase !== undefined) throw otherCase('The body', scan.otherCase, foldName(scan.otherCase));
  const model = modelNamed(Object.hasOwn(value, 'model') ? value.model : undefined, catalog, endpoint);
  for (const name of COUNTS) checkCount(name, value[name]);
  const stream = value.stream ?? false;
  if (typeof stream !== 'boolean') throw invalidField('stream', 'stream must be true or false.');
  const options = scan.spans.get('stream_options');
  if (stream && options && text[options.start] === '{')
    checkStreamOptions(text.slice(options.start, options.end));
  checkNestedNames(value);
  return {
    kind: 'json',
    model,
    value,
    isStream: stream,
    bytes,
    textBytes: size,
    files: 0,
    audio: undefined,
    elidedStrings: elided?.elidedStrings,
    text,
    elided,
    ...scan,
  };
}

/**
 * Refuses `stream_options` that an upstream could read in another way: they decide whether a stream reports its usage.
 */
function checkStreamOptions(text: string): void {
  const { repeated, otherCase } = scanMembers(text, STREAM_OPTIONS);
  if (repeated === undefined && otherCase === undefined) return;
  throw invalidJson(
    'stream_options has the field "include_usage" more than once, or not in lower case. Send it once.',
    'stream_options',
  );
}

/**
 * The model of the catalog that a request names. Throws the GatewayError of check 9 if there is none for the endpoint.
 */
export function modelNamed(name: unknown, catalog: Catalog, endpoint: Endpoint): Model {
  if (name === undefined || name === '' || name === null) {
    throw new GatewayError('model_required', 'Name the model to call in the field "model".', 'model');
  }
  if (typeof name !== 'string') throw invalidField('model', 'model must be a string, the name of a model.');
  const model = catalog.get(name);
  if (!model) {
    throw new GatewayError(
      'model_not_found',
      `The model ${JSON.stringify(name.slice(0, 200))} does not exist here. GET /v1/models lists those that do.`,
      'model',
    );
  }
  checkFit(model, endpoint);
  return model;
}

/** Parses JSON text whose value must be an object. Throws 400 `invalid_json`. */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidJson('The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

function checkFit(model: Model, endpoint: Endpoint): void {
  if (model.category !== endpoint.category) {
    throw new GatewayError(
      'endpoint_mismatch',
      `The model ${model.slug} is of the category ${model.category}; ${endpoint.path} serves ${endpoint.category} models.`,
      'model',
    );
  }
  if (model.upstream.format !== endpoint.format) {
    throw new GatewayError(
      'endpoint_mismatch',
      `The model ${model.slug} is served in the ${model.upstream.format} format, not at ${endpoint.path}.`,
      'model',
    );
  }
}

/** Throws 400 `invalid_field` unless the value is absent or a non-negative safe integer. */
export function checkCount(name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalidField(name, `${name} must be a whole number, 0 or more.`);
  }
}
