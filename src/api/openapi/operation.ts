import type { ErrorCode } from '../../domain/errors.ts';
import type { JsonSchema } from './json-type.ts';

/** A body of a request or an answer that readers can copy. */
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

/** An OpenAPI operation, as far as this gateway uses it. */
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
 * Facts about a route besides its schemas. finish.ts turns them into parts of the operation; the document does not
 * contain them as they are.
 */
export interface RouteDocs {
  /** Every error code that the route can answer. */
  readonly refusals: readonly ErrorCode[];
  /** Shape of the route's errors. Default: `openai`. */
  readonly errorFormat?: 'openai' | 'anthropic';
  /** Whether the route also takes no body, or an empty one. Fastify describes every body as required. */
  readonly isBodyOptional?: true;
  /** Headers of limits of calls, which refusals may have besides those of their status. */
  readonly limitHeaders?: Readonly<Record<string, unknown>>;
  /** Examples of request bodies, which can be sent as they are. */
  readonly requests?: Readonly<Record<string, Example>>;
  /** Example of a successful answer's body. */
  readonly answer?: unknown;
  /** Examples of the bodies of other statuses that have schemas of their own. */
  readonly otherAnswers?: Readonly<Record<string, unknown>>;
}

declare module 'fastify' {
  interface FastifySchema {
    'x-docs'?: RouteDocs;
  }
}

export const BY_KEY = [{ apiKey: [] }, { xApiKey: [] }];
export const BY_OPERATOR = [{ adminToken: [] }];
