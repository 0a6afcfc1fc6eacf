import type { ErrorCode } from '../../domain/errors.ts';
import { CHARGE_HEADER, limitHeaders } from './headers.ts';
import type { JsonSchema } from './json-type.ts';
import {
  type Answer,
  BY_KEY,
  type Example,
  type Media,
  MODEL_CALL_REFUSALS,
  type Operation,
} from './operation.ts';

interface ModelCall {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** URL of the vendor's documentation of the call. */
  readonly reference: string;
  readonly format?: 'openai' | 'anthropic';
  /** Properties of the body that the gateway reads; all others are passed on. */
  readonly fields: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Media types of the body. Default: JSON only. */
  readonly bodies?: readonly ('application/json' | 'multipart/form-data')[];
  readonly requests: Readonly<Record<string, Example>>;
  /** Bodies of a successful answer by media type. */
  readonly answers: Readonly<Record<string, Media>>;
  /** Error codes beyond those of every model call. */
  readonly refusals?: readonly ErrorCode[];
}

const VENDORS = { openai: 'OpenAI', anthropic: 'Anthropic' } as const;

/** Provider responses that the gateway passes on. */
export const PASSED_ON: Readonly<Record<string, Answer>> = {
  '4XX': {
    description:
      "The provider's own error, with its body; costs nothing. It can have one of the statuses listed here. (The provider's " +
      '401 and 403 become 502 `upstream_auth_failed`.)',
  },
  '5XX': { description: "The provider's own error, with its body; costs nothing." },
};

/** Operation of a forwarded call: the properties that the gateway reads, and a link to the vendor's page. */
export function modelCall(call: ModelCall): Operation {
  const { format = 'openai', bodies = ['application/json'] } = call;
  const schema: JsonSchema = {
    type: 'object',
    required: ['model', ...(call.required ?? [])],
    properties: { model: MODEL, ...call.fields },
    additionalProperties: true,
  };
  return {
    operationId: call.operationId,
    tags: ['Models'],
    summary: call.summary,
    ...(call.description ? { description: call.description } : {}),
    externalDocs: { description: `${VENDORS[format]}'s reference`, url: call.reference },
    security: BY_KEY,
    requestBody: {
      required: true,
      content: Object.fromEntries(bodies.map((type) => [type, { schema }])),
    },
    responses: {
      200: {
        description: "The provider's answer.",
        headers: { ...CHARGE_HEADER, ...limitHeaders(format) },
        content: { ...call.answers },
      },
      ...Object.fromEntries(
        Object.entries(PASSED_ON).map(([status, answer]) => [
          status,
          { ...answer, headers: limitHeaders(format) },
        ]),
      ),
    },
    'x-docs': {
      limitHeaders: limitHeaders(format),
      refusals: [...MODEL_CALL_REFUSALS, ...(call.refusals ?? [])],
      errorFormat: format,
      requests: call.requests,
    },
  };
}

const MODEL: JsonSchema = {
  type: 'string',
  minLength: 1,
  description: 'Name of a model from `GET /v1/models`, of the category and format of this route.',
};

/** Schema of a number that bounds the output, and so the hold (specification section 5, Admit). */
export const count = (description: string): JsonSchema => ({
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

/**
 * Schema of a parameter whose value decides the price, such as a service tier. A model without a multiplier for it
 * returns 400 `unpriced_parameter`.
 */
export const tier = (what: string): JsonSchema => ({
  type: ['string', 'null'],
  description: `${what} A tier that the model has no price for is refused.`,
});

export const STREAM: JsonSchema = {
  type: ['boolean', 'null'],
  default: false,
  description: 'true: streams the answer as `text/event-stream`.',
};

/** JSON body of the provider, with an example. */
export const json = (value: unknown): Media => ({
  schema: { type: 'object', additionalProperties: true, description: "The provider's own fields." },
  examples: { answer: { value } },
});

/** Event stream, passed on unchanged, with an example. */
export const events = (...lines: readonly string[]): Media => ({
  schema: { type: 'string', description: 'Events of the provider.' },
  examples: { stream: { value: lines.map((line) => `${line}\n\n`).join('') } },
});
