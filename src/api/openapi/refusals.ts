import type { ErrorCode } from '../../domain/errors.ts';
import { CALLER_CHECKS } from '../../domain/rules.ts';

// Codes that routes can answer, in groups that routes share, in the order of the checks.

/** Codes of every route. */
const FAULTS = ['service_unavailable', 'internal_error'] as const satisfies readonly ErrorCode[];

/** Codes of every route that requires a key: those of checks 1 to 8 of specification section 3. */
export const KEY_REFUSALS: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  ...CALLER_CHECKS.map(({ code }) => code),
  ...FAULTS,
];

/** Codes of routes under `/api/` that any key may use; `invalid_field` refuses unknown query parameters. */
export const OWNER_REFUSALS = [...KEY_REFUSALS, 'invalid_field'] as const satisfies readonly ErrorCode[];

/** Codes of routes under `/api/` that only a managing key may use. */
export const MANAGING_REFUSALS = [
  ...OWNER_REFUSALS,
  'management_not_allowed',
] as const satisfies readonly ErrorCode[];

/** Codes of the operator's routes; `unknown_endpoint` is their answer if no ADMIN_TOKEN is set. */
export const OPERATOR_REFUSALS = [
  'invalid_admin_token',
  'unknown_endpoint',
  'invalid_field',
  ...FAULTS,
] as const satisfies readonly ErrorCode[];

/** Codes of routes that read a JSON object of settings. */
export const BODY_REFUSALS = [
  'invalid_json',
  'invalid_field',
  'invalid_request',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Codes of requests about a job. It is paid for, so no spending limit and no balance can refuse them. */
export const JOB_REFUSALS = [
  ...KEY_REFUSALS,
  'object_not_found',
  'category_not_allowed',
  'model_not_allowed',
  'rate_limit_exceeded',
  'upstream_auth_failed',
  'upstream_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];

/** Codes of model calls: those of checks 9 to 12, and those of calls that fail at the provider. */
export const MODEL_CALL_REFUSALS = [
  ...KEY_REFUSALS,
  'invalid_json',
  'model_required',
  'model_not_found',
  'endpoint_mismatch',
  'invalid_field',
  'invalid_request',
  'request_timeout',
  'body_too_large',
  'object_not_found',
  'category_not_allowed',
  'model_not_allowed',
  'rate_limit_exceeded',
  'spending_limit_exceeded',
  'insufficient_credits',
  'upstream_auth_failed',
  'upstream_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];
