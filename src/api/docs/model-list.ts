import { CATEGORIES } from '../../domain/key.ts';
import { BY_KEY, type JsonSchema, type Operation } from './operation.ts';
import { KEY_REFUSALS } from './refusals.ts';

const MODEL: JsonSchema = {
  title: 'Model',
  type: 'object',
  required: ['id', 'object', 'created', 'owned_by', 'category'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', description: 'What calls name as `model`, and `allowed_models` lists.' },
    object: { type: 'string', const: 'model' },
    created: { type: 'integer', const: 0, description: 'There for clients that require it.' },
    owned_by: { type: 'string', description: 'Name of the upstream in the configuration.' },
    category: { type: 'string', enum: [...CATEGORIES], description: 'What `allowed_categories` lists.' },
  },
};
const DEMO_CHAT = { id: 'demo-chat', object: 'model', created: 0, owned_by: 'demo', category: 'text' };

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
