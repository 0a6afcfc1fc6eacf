import type { ErrorCode } from '../../domain/errors.ts';

/** JSON Schema 2020-12 as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A value that is sent or answered, as it can be copied from the page. */
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
  readonly requestBody?: { readonly required: true; readonly content: Record<string, Media> };
  responses: Record<string, Answer>;
  'x-docs'?: RouteDocs;
}

/**
 * Facts about a route beside its schemas. They are written out into the operation, and are not in the document themselves.
 */
export interface RouteDocs {
  /** Every code that it can answer. */
  readonly refusals: readonly ErrorCode[];
  /** `anthropic`: errors in Anthropic's shape. */
  readonly errorFormat?: 'openai' | 'anthropic';
  /** Bodies that can be sent as they stand. */
  readonly requests?: Readonly<Record<string, Example>>;
  /** Example of a success. */
  readonly answer?: unknown;
  /** Examples for other statuses that have a schema of their own. */
  readonly otherAnswers?: Readonly<Record<string, unknown>>;
}

declare module 'fastify' {
  interface FastifySchema {
    'x-docs'?: RouteDocs;
  }
}

export const BY_KEY = [{ apiKey: [] }, { xApiKey: [] }];
export const BY_OPERATOR = [{ adminToken: [] }];
