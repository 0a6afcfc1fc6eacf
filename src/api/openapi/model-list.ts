import { CATEGORIES } from '../../domain/key.ts';
import { UNIT_NAMES } from '../../domain/units.ts';
import { ALWAYS_PRICED, OPENROUTER_PRICES } from '../models/model-view.ts';
import { PAGE_LIMIT } from './fields.ts';
import type { JsonSchema } from './json-type.ts';
import { BY_KEY, KEY_REFUSALS, type Operation } from './operation.ts';

const UNIT_PRICE: JsonSchema = {
  title: 'UnitPrice',
  description:
    'Credits per 1,000,000 tokens or characters, 1,000 searches, or one image, second or request. A list if the length of the input decides: the last entry whose `above` all input tokens of the request exceed ' +
    'prices the whole request. An object if size and quality of a picture or video decide.',
  oneOf: [
    { type: 'number', minimum: 0 },
    { type: 'object', minProperties: 1, additionalProperties: { type: 'number', minimum: 0 } },
    {
      type: 'array',
      minItems: 2,
      items: {
        type: 'object',
        required: ['price'],
        additionalProperties: false,
        properties: {
          above: { type: 'integer', minimum: 0, description: 'Absent in the first entry.' },
          price: { type: 'number', minimum: 0 },
        },
      },
    },
  ],
};

const CREDITS_TEXT: JsonSchema = { type: 'string', pattern: String.raw`^\d+(\.\d+)?$` };

/** A model of the list. */
export const MODEL = {
  title: 'Model',
  type: 'object',
  required: [
    'id',
    'object',
    'created',
    'type',
    'display_name',
    'created_at',
    'context_length',
    'max_output_tokens',
    'owned_by',
    'category',
    'aliases',
    'endpoints',
    'price',
    'pricing',
    'service_tiers',
  ],
  additionalProperties: false,
  properties: {
    id: { type: 'string', description: 'Name for `model` in calls and for `allowed_models`.' },
    object: { type: 'string', const: 'model', description: 'For clients that require it.' },
    created: { type: 'integer', const: 0, description: 'For clients that require it.' },
    type: { type: 'string', const: 'model', description: "Anthropic's name for `object`." },
    display_name: { type: 'string', description: 'Same as `id`.' },
    created_at: {
      type: 'string',
      const: '1970-01-01T00:00:00Z',
      description: 'For clients that require it.',
    },
    context_length: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Tokens it can read in one pass; null if unknown.',
    },
    max_output_tokens: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Longest answer in tokens; null if it does not count.',
    },
    owned_by: { type: 'string', description: 'Name of the upstream in the configuration.' },
    category: { type: 'string', enum: [...CATEGORIES], description: 'What `allowed_categories` lists.' },
    aliases: {
      type: 'array',
      items: { type: 'string' },
      description: 'Other names that calls can use.',
    },
    endpoints: {
      type: 'array',
      items: { type: 'string' },
      description: 'Paths that serve it.',
    },
    price: {
      title: 'ModelPrice',
      type: 'object',
      description:
        'Price by unit. An absent unit costs as much as the unit it refines (`cachedInput` as `input`), else nothing.',
      additionalProperties: false,
      properties: Object.fromEntries(UNIT_NAMES.map((unit) => [unit, UNIT_PRICE])),
    },
    pricing: {
      title: 'ModelPricing',
      type: 'object',
      description:
        "Prices in OpenRouter's form: credits for one token, image, search or request, as text. Has the first price by length " +
        'and the highest by size and quality.',
      required: [...ALWAYS_PRICED],
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries(OPENROUTER_PRICES).map(([name, unit]) => [
          name,
          { ...CREDITS_TEXT, description: `The price of one ${unit}, in credits.` },
        ]),
      ),
    },
    service_tiers: {
      type: 'object',
      description: 'Factors of service tiers on the price; requests for other tiers are refused.',
      additionalProperties: { type: 'number', minimum: 0 },
    },
  },
} satisfies JsonSchema;
/** The demo model of a first start. */
export const DEMO_CHAT = {
  id: 'demo-chat',
  object: 'model',
  created: 0,
  type: 'model',
  display_name: 'demo-chat',
  created_at: '1970-01-01T00:00:00Z',
  context_length: null,
  max_output_tokens: 1024,
  owned_by: 'demo',
  category: 'text',
  aliases: [],
  endpoints: ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/responses/compact'],
  price: { input: 1, output: 2, request: 0.01 },
  pricing: { prompt: '0.000001', completion: '0.000002', request: '0.01' },
  service_tiers: {},
};

const listModels: Operation = {
  operationId: 'listModels',
  tags: ['Models'],
  summary: 'List models',
  description:
    "Returns the models that the key can use, with the fields of OpenAI's and Anthropic's lists. With the " +
    "header `anthropic-version`, errors have Anthropic's shape.",
  security: BY_KEY,
  parameters: [
    {
      in: 'query',
      name: 'limit',
      description: 'Maximum number of models. Default: all.',
      schema: { type: 'integer', minimum: PAGE_LIMIT.min, maximum: PAGE_LIMIT.max },
    },
    {
      in: 'query',
      name: 'after_id',
      description: 'Starts after this model: `last_id` of the previous page.',
      schema: { type: 'string' },
    },
    {
      in: 'query',
      name: 'before_id',
      description: 'Ends before this model: `first_id` of the next page.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'The models, in the order of the configuration.',
      content: {
        'application/json': {
          schema: {
            title: 'ModelList',
            type: 'object',
            required: ['object', 'data', 'has_more', 'first_id', 'last_id'],
            additionalProperties: false,
            properties: {
              object: { type: 'string', const: 'list' },
              data: { type: 'array', items: MODEL },
              has_more: { type: 'boolean', description: 'Whether there are more models.' },
              first_id: {
                type: ['string', 'null'],
                description: 'The first of `data`; null if it is empty.',
              },
              last_id: { type: ['string', 'null'], description: 'The last of `data`; null if it is empty.' },
            },
          },
        },
      },
    },
  },
  'x-docs': {
    refusals: [...KEY_REFUSALS, 'invalid_field'],
    answer: {
      object: 'list',
      data: [DEMO_CHAT],
      has_more: false,
      first_id: 'demo-chat',
      last_id: 'demo-chat',
    },
  },
};

const readModel: Operation = {
  operationId: 'readModel',
  tags: ['Models'],
  summary: 'Read a model',
  security: BY_KEY,
  parameters: [
    {
      in: 'path',
      name: 'id',
      required: true,
      description: 'Name of the model, or an alias. It can contain slashes.',
      schema: { type: 'string' },
      example: 'demo-chat',
    },
  ],
  responses: {
    200: { description: 'The model.', content: { 'application/json': { schema: MODEL } } },
  },
  'x-docs': { refusals: [...KEY_REFUSALS, 'model_not_found'], answer: DEMO_CHAT },
};

export const MODEL_LIST_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /v1/models': listModels,
  'GET /v1/models/{id}': readModel,
};
