import type { ErrorCode } from '../../domain/errors.ts';

/** Codes that a route can answer, in groups that routes share, in the order of the checks. */

/** Anything can fail. */
const FAULTS = ['service_unavailable', 'internal_error'] as const satisfies readonly ErrorCode[];

/** Checks 1 to 8 of specification section 3: every route that asks for a key. */
export const KEY_REFUSALS = [
  'missing_api_key',
  'invalid_api_key',
  'inactive_api_key',
  'inactive_account',
  'expired_api_key',
  'outside_active_hours',
  'ip_not_allowed',
  'country_blocked',
  'origin_not_allowed',
  ...FAULTS,
] as const satisfies readonly ErrorCode[];

/** Routes under `/api/` that any key may use: they also refuse query parameters that they do not know. */
export const OWNER_REFUSALS = [...KEY_REFUSALS, 'invalid_field'] as const satisfies readonly ErrorCode[];

/** Routes under `/api/` for managing keys. */
export const MANAGING_REFUSALS = [
  ...OWNER_REFUSALS,
  'management_not_allowed',
] as const satisfies readonly ErrorCode[];

/** Routes of the operator; `unknown_endpoint` where no ADMIN_TOKEN is set. */
export const OPERATOR_REFUSALS = [
  'invalid_admin_token',
  'unknown_endpoint',
  'invalid_field',
  ...FAULTS,
] as const satisfies readonly ErrorCode[];

/** Routes that read a JSON object of settings. */
export const BODY_REFUSALS = [
  'invalid_json',
  'invalid_field',
  'invalid_request',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Requests about a job that was paid for: no limit and no balance can refuse them. */
export const JOB_REFUSALS = [
  ...KEY_REFUSALS,
  'object_not_found',
  'category_not_allowed',
  'model_not_allowed',
  'upstream_auth_failed',
  'upstream_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];

/** Model calls: checks 9 to 12, and what can become of a call that was sent. */
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
  'spending_limit_exceeded',
  'insufficient_credits',
  'upstream_auth_failed',
  'upstream_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];
