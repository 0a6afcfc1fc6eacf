import { CATEGORIES } from '../../domain/key.ts';
import { UNIT_NAMES } from '../../domain/units.ts';
import type { JsonSchema } from './json-type.ts';
import { BY_KEY, type Operation } from './operation.ts';
import { KEY_REFUSALS } from './refusals.ts';

const UNIT_PRICE: JsonSchema = {
  title: 'UnitPrice',
  description:
    'Credits, for 1,000,000 tokens or characters, 1,000 searches, or one image, second or request; a list where the length of the input decides: the entry whose `above` is exceeded by all input tokens of a ' +
    'request prices it whole; an object where the size and quality of a picture or video decide.',
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

const MODEL: JsonSchema = {
  title: 'Model',
  type: 'object',
  required: ['id', 'object', 'created', 'owned_by', 'category', 'price', 'service_tiers'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', description: 'What calls name as `model`, and `allowed_models` lists.' },
    object: { type: 'string', const: 'model' },
    created: { type: 'integer', const: 0, description: 'There for clients that require it.' },
    owned_by: { type: 'string', description: 'Name of the upstream in the configuration.' },
    category: { type: 'string', enum: [...CATEGORIES], description: 'What `allowed_categories` lists.' },
    price: {
      title: 'ModelPrice',
      type: 'object',
      description:
        'What it costs by unit. One that is absent costs what the unit that it refines costs (`cachedInput` as `input`), else nothing.',
      additionalProperties: false,
      properties: Object.fromEntries(UNIT_NAMES.map((unit) => [unit, UNIT_PRICE])),
    },
    service_tiers: {
      type: 'object',
      description:
        "What the provider's service tiers multiply the price by; requests for others are refused.",
      additionalProperties: { type: 'number', minimum: 0 },
    },
  },
};
const DEMO_CHAT = {
  id: 'demo-chat',
  object: 'model',
  created: 0,
  owned_by: 'demo',
  category: 'text',
  price: { input: 1, output: 2, request: 0.01 },
  service_tiers: {},
};

const listModels: Operation = {
  operationId: 'listModels',
  tags: ['Models'],
  summary: 'List models',
  description: 'Those that this key may use: its allowed models and categories.',
  security: BY_KEY,
  responses: {
    200: {
      description: 'The models, in the order of the configuration.',
      content: {
        'application/json': {
          schema: {
            title: 'ModelList',
            type: 'object',
            required: ['object', 'data'],
            additionalProperties: false,
            properties: { object: { type: 'string', const: 'list' }, data: { type: 'array', items: MODEL } },
          },
        },
      },
    },
  },
  'x-docs': { refusals: KEY_REFUSALS, answer: { object: 'list', data: [DEMO_CHAT] } },
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
      description: 'Name of the model. It may have slashes in it.',
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
