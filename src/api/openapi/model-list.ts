import { CATEGORIES } from '../../domain/key.ts';
import { UNIT_NAMES } from '../../domain/units.ts';
import { ALWAYS_PRICED, OPENROUTER_PRICES } from '../models/model-view.ts';
import { PAGE_LIMIT } from './fields.ts';
import type { JsonSchema } from './json-type.ts';
import { BY_KEY, KEY_REFUSALS, type Operation } from './operation.ts';

const UNIT_PRICE: JsonSchema = {
  title: 'UnitPrice',
  description:
    'Credits, for 1,000,000 tokens or characters, 1,000 searches, or one image, second or request; a list where the length of the input decides: the entry whose `above` is exceeded by all input tokens of a ' +
    'request prices it whole; an object if the size and quality of a picture or video decide.',
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
          above: { type: 'integer', minimum: 0, description: 'Not there in the first entry.' },
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
    id: { type: 'string', description: 'What calls name as `model`, and `allowed_models` lists.' },
    object: { type: 'string', const: 'model', description: "OpenAI's name of what this is." },
    created: { type: 'integer', const: 0, description: 'There for clients that require it.' },
    type: { type: 'string', const: 'model', description: "Anthropic's name for `object`." },
    display_name: { type: 'string', description: 'The same as `id`.' },
    created_at: {
      type: 'string',
      const: '1970-01-01T00:00:00Z',
      description: 'There for clients that require it.',
    },
    context_length: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Tokens that it can read in one pass; null if unknown.',
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
      description: 'Other names that calls may give it.',
    },
    endpoints: {
      type: 'array',
      items: { type: 'string' },
      description: 'Paths that take calls of it.',
    },
    price: {
      title: 'ModelPrice',
      type: 'object',
      description:
        'Price by unit. An absent unit costs as much as the unit that it refines (`cachedInput` as `input`), else nothing.',
      additionalProperties: false,
      properties: Object.fromEntries(UNIT_NAMES.map((unit) => [unit, UNIT_PRICE])),
    },
    pricing: {
      title: 'ModelPricing',
      type: 'object',
      description:
        "The prices in OpenRouter's form: credits for one token, image, search or request, as text. Of prices by length the first, of " +
        'prices by size and quality the highest.',
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
      description:
        "What the provider's service tiers multiply the price by; requests for others are refused.",
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
    "Those that this key may use: its allowed models and categories, with the fields of OpenAI's and of Anthropic's lists. With the " +
    "header `anthropic-version`, errors have Anthropic's shape.",
  security: BY_KEY,
  parameters: [
    {
      in: 'query',
      name: 'limit',
      description: 'Most models of the answer. Default: all.',
      schema: { type: 'integer', minimum: PAGE_LIMIT.min, maximum: PAGE_LIMIT.max },
    },
    {
      in: 'query',
      name: 'after_id',
      description: 'Id of the model before the page: `last_id` of the page before.',
      schema: { type: 'string' },
    },
    {
      in: 'query',
      name: 'before_id',
      description: 'Id of the model after the page: `first_id` of the next page.',
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
              has_more: { type: 'boolean', description: 'Whether `limit` left models out.' },
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
      description: 'Name of the model, or an alias. It may have slashes in it.',
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
