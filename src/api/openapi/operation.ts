import type { ErrorCode } from '../../domain/errors.ts';
import type { Action } from '../../domain/roles.ts';
import { CALLER_CHECKS } from '../../domain/rules.ts';
import type { JsonSchema } from './json-type.ts';

/** A request or response body that readers can copy. */
export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

/** A body in one media type. */
export interface Media {
  schema: JsonSchema;
  examples?: Readonly<Record<string, Example | Reference>>;
}

export interface Reference {
  readonly $ref: string;
}

export interface Answer {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}

/** The part of an OpenAPI operation that this gateway uses. */
export interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly externalDocs?: { readonly description: string; readonly url: string };
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, Media> };
  responses: Record<string, Answer>;
  'x-docs'?: RouteDocs;
}

/**
 * Facts about a route beyond its schemas. finish.ts turns them into parts of the operation; the document doesn't
 * contain them in this form.
 */
export interface RouteDocs {
  /** What a person's role must allow, one of several; a route of an account has some. */
  readonly may?: readonly Action[];
  /** Every error code that the route can return, but those of changes with a session (finish.ts). */
  readonly refusals: readonly ErrorCode[];
  /** Statuses of refusals that differ from those of their codes. */
  readonly statuses?: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Shape of the route's errors. Default: `openai`. */
  readonly errorFormat?: 'openai' | 'anthropic';
  /** True if the route accepts a missing or empty body. Fastify documents every body as required. */
  readonly isBodyOptional?: true;
  /** Call limit headers, which refusals may have in addition to those of their status. */
  readonly limitHeaders?: Readonly<Record<string, unknown>>;
  /** Example request bodies, ready to send. */
  readonly requests?: Readonly<Record<string, Example>>;
  /** Example of a successful answer's body. */
  readonly answer?: unknown;
  /** Example bodies of other statuses with their own schemas. */
  readonly otherAnswers?: Readonly<Record<string, unknown>>;
}

declare module 'fastify' {
  interface FastifySchema {
    'x-docs'?: RouteDocs;
  }
}

export const BY_KEY = [{ apiKey: [] }, { xApiKey: [] }];
/** A key, or a session with the account that the request names. */
export const BY_ACCOUNT = [...BY_KEY, { session: [] }];
/** The session of a person. */
export const BY_SESSION = [{ session: [] }];
/** Routes without a credential. */
export const NOBODY = [];
export const BY_OPERATOR_TOKEN = [{ adminToken: [] }];
/** ADMIN_TOKEN, or the session of an operator. */
export const BY_OPERATOR = [...BY_OPERATOR_TOKEN, { session: [] }];

// Error codes in groups that routes share, in the order of the checks.

/** Codes of every route. */
export const FAULTS = ['service_unavailable', 'internal_error'] as const satisfies readonly ErrorCode[];

/** Codes of every route that requires a key: those of checks 1 to 8 of specification section 3. */
export const KEY_REFUSALS: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  ...CALLER_CHECKS.map(({ code }) => code),
  ...FAULTS,
];

/** Codes of routes under `/api/` that any key may use; `invalid_field` refuses unknown query parameters. */
export const OWNER_REFUSALS = [
  ...KEY_REFUSALS,
  'account_required',
  'account_not_found',
  'not_permitted',
  'invalid_field',
] as const satisfies readonly ErrorCode[];

/** Codes of routes under `/api/` that only a managing key may use. */
export const MANAGING_REFUSALS = [
  ...OWNER_REFUSALS,
  'management_not_allowed',
] as const satisfies readonly ErrorCode[];

/** Codes of routes that a person with a session uses for themselves. */
export const SESSION_REFUSALS = {
  reading: ['not_signed_in', 'not_permitted', 'invalid_field', ...FAULTS],
  changing: [
    'not_signed_in',
    'not_permitted',
    'unsupported_media_type',
    'cross_site',
    'invalid_field',
    ...FAULTS,
  ],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Codes of routes that sign somebody in, or lead to it. */
export const STRANGER_REFUSALS = ['cross_site', ...FAULTS] as const satisfies readonly ErrorCode[];

/** Codes of the operator's routes: by ADMIN_TOKEN, or by the session of an operator. */
export const OPERATOR_REFUSALS = [
  'invalid_admin_token',
  'rate_limit_exceeded',
  'not_permitted',
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

/** Codes of requests about a job. The job is paid for, so neither spending limit nor balance can refuse them. */
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

/** Codes of model calls: checks 9 to 12, and failures at the provider. */
export const MODEL_CALL_REFUSALS = [
  ...KEY_REFUSALS,
  'invalid_json',
  'model_required',
  'model_not_found',
  'endpoint_mismatch',
  'invalid_field',
  'unpriced_parameter',
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
