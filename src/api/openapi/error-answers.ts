import { ERRORS, type ErrorCode, GatewayError } from '../../domain/errors.ts';
import { reportsLimits } from '../../gateway/limits.ts';
import { refusalText } from '../../gateway/refuse.ts';
import type { JsonSchema } from './json-type.ts';
import type { Answer, Reference, RouteDocs } from './operation.ts';

const TYPES = [...new Set(Object.values(ERRORS).map(([, type]) => type))];

const MESSAGE: JsonSchema = {
  type: 'string',
  description: 'What happened and what to do, for people. It can change.',
};
const PARAM: JsonSchema = {
  type: ['string', 'null'],
  description: 'The refused field, parameter or header; null if none of them.',
};
const CODE: JsonSchema = {
  type: 'string',
  enum: Object.keys(ERRORS),
  description: 'Stable code for programs to compare.',
};

const CREDITS: JsonSchema = { type: 'string', pattern: String.raw`^-?\d+\.\d{6}$` };
/** Only beside `insufficient_credits` and `spending_limit_exceeded`. */
const METADATA: JsonSchema = {
  type: 'object',
  required: ['balance', 'held', 'hold', 'estimate', 'affordable_max_tokens'],
  additionalProperties: false,
  description:
    'For 402: the available credits, the cost of the call, and the largest maximum that would fit.',
  properties: {
    balance: {
      ...CREDITS,
      type: ['string', 'null'],
      description: "The account's balance; null for a key that can't manage.",
    },
    held: {
      ...CREDITS,
      type: ['string', 'null'],
      description: "Amount that calls in flight have reserved; null for a key that can't manage.",
    },
    hold: { ...CREDITS, description: 'Maximum cost of the call.' },
    estimate: { ...CREDITS, description: 'Likely cost of the call.' },
    affordable_max_tokens: {
      type: ['integer', 'null'],
      minimum: 1,
      description: "Largest output maximum that the gateway would accept; null if lowering it can't help.",
    },
  },
};

/** Only on Anthropic's routes: its clients read them. */
const DETAILS: JsonSchema = {
  type: 'object',
  required: ['error_code', 'unsupported'],
  additionalProperties: false,
  description: "With a `thread`: Anthropic's clients send the call again without it.",
  properties: {
    error_code: { type: 'string', const: 'thread_unsupported_request' },
    unsupported: { type: 'array', items: { type: 'string' }, description: 'Fields to leave out.' },
  },
};

/** Only beside `usage_limit_reached`. */
const RESETS_AT: JsonSchema = {
  type: 'integer',
  minimum: 0,
  description: 'For Codex: the end of the period of a spent limit, in seconds since 1970.',
};

/** Schema of every error but those of Anthropic's routes (specification section 3). */
const OPENAI_ERROR: JsonSchema = {
  title: 'Error',
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      additionalProperties: false,
      properties: {
        message: MESSAGE,
        type: { type: 'string', enum: TYPES, description: 'Kind of error, which follows from the code.' },
        param: PARAM,
        code: CODE,
        metadata: METADATA,
        resets_at: RESETS_AT,
      },
    },
  },
};

const ANTHROPIC_ERROR: JsonSchema = {
  title: 'AnthropicError',
  type: 'object',
  required: ['type', 'error'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'error' },
    error: {
      type: 'object',
      required: ['type', 'message', 'param', 'code'],
      additionalProperties: false,
      properties: {
        type: { type: 'string', description: "One of Anthropic's types, by the status." },
        message: MESSAGE,
        param: PARAM,
        code: CODE,
        metadata: METADATA,
        details: DETAILS,
      },
    },
  },
};

/** Schema of a provider's error, passed on unchanged; covers what both formats share. */
const PROVIDER_ERROR: JsonSchema = {
  title: 'ProviderError',
  description: "The provider's own error, with its body.",
  type: 'object',
  required: ['error'],
  additionalProperties: true,
  properties: {
    error: {
      type: ['object', 'string'],
      additionalProperties: true,
      description: "The provider's own fields.",
      properties: {
        message: { type: ['string', 'null'], description: 'What happened, in its words.' },
        code: { type: ['string', 'integer', 'null'], description: 'Its own code; often null.' },
      },
    },
  },
};

/** Provider statuses not passed on, because they concern the gateway's credential. */
const NEVER_PASSED_ON: ReadonlySet<number> = new Set([401, 403]);

const FORMATS = {
  openai: { schema: OPENAI_ERROR, url: '/', prefix: '' },
  anthropic: { schema: ANTHROPIC_ERROR, url: '/v1/messages', prefix: 'anthropic_' },
} as const;
export type ErrorFormat = keyof typeof FORMATS;

const FINAL = { 'x-should-retry': { $ref: '#/components/headers/x-should-retry' } };
const SOURCE = { 'x-tollgate-source': { $ref: '#/components/headers/x-tollgate-source' } };
/** Those of `usage_limit_reached`. */
const CODEX: Record<string, Reference> = {
  ...FINAL,
  'x-codex-promo-message': { $ref: '#/components/headers/x-codex-promo-message' },
  'x-codex-rate-limit-reached-type': { $ref: '#/components/headers/x-codex-rate-limit-reached-type' },
};
const HEADERS: Readonly<Record<number, Record<string, Reference>>> = {
  401: { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } },
  429: {
    'Retry-After': { $ref: '#/components/headers/Retry-After' },
    'retry-after-ms': { $ref: '#/components/headers/retry-after-ms' },
  },
  502: FINAL,
  503: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
  504: FINAL,
};

/**
 * Refusals of one route by status, with a reference into `#/components/examples` for every code. `passesOn` is true if
 * the route passes on provider errors, which can have the same statuses.
 */
export function errorAnswers(
  { refusals, statuses, errorFormat = 'openai', limitHeaders = {} }: RouteDocs,
  passesOn: boolean,
): Record<string, Answer> {
  const answers: Record<string, Answer> = {};
  const { schema, prefix } = FORMATS[errorFormat];
  const statusOf = (code: ErrorCode) => statuses?.[code] ?? ERRORS[code][0];
  const toCodex = refusals.includes('usage_limit_reached') ? CODEX : {};
  for (const [status, ofStatus] of Map.groupBy(new Set(refusals), statusOf)) {
    answers[status] = {
      description: `Refused: ${ofStatus.map((code) => `\`${code}\``).join(', ')}.`,
      headers: {
        ...SOURCE,
        ...(ofStatus.every((code) => ERRORS[code][2] === 'final') ? FINAL : {}),
        ...HEADERS[status],
        ...(status === 429 ? toCodex : {}),
        ...(reportsLimits(status) ? limitHeaders : {}),
      },
      content: {
        'application/json': {
          schema: passesOn && !NEVER_PASSED_ON.has(status) ? { anyOf: [schema, PROVIDER_ERROR] } : schema,
          examples: Object.fromEntries(
            ofStatus.map((code) => [code, { $ref: `#/components/examples/${prefix}${code}` }]),
          ),
        },
      },
    };
  }
  return answers;
}

/** Examples for `errorAnswers`, by name: each refusal in the shape of `format`. docs/api.md says what to do about it. */
export function errorExamples(format: ErrorFormat): Record<string, { summary: string; value: unknown }> {
  const { prefix, url } = FORMATS[format];
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return Object.fromEntries(
    codes.map((code) => {
      const value: unknown = JSON.parse(
        refusalText(new GatewayError(code, 'What happened, and what to do.'), url),
      );
      return [`${prefix}${code}`, { summary: `${ERRORS[code][0]} ${code}`, value }];
    }),
  );
}
