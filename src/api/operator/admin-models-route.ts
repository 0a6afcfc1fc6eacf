import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Catalog } from '../../domain/catalog.ts';
import { operatorModelListView } from '../models/show-models.ts';
import { DEMO_CHAT, MODEL } from '../openapi/model-list.ts';
import { BY_OPERATOR } from '../openapi/operation.ts';
import { OPERATOR_REFUSALS } from '../openapi/refusals.ts';

const OPERATOR_MODEL = {
  ...MODEL,
  title: 'OperatorModel',
  description: 'A model with the source of its price and where it runs.',
  required: [...MODEL.required, 'source', 'list_price', 'targets', 'price_until'],
  properties: {
    ...MODEL.properties,
    source: {
      type: 'string',
      enum: ['config', 'list', 'free'],
      description: 'Source of its price: the configuration, the price list, or free.',
    },
    list_price: {
      anyOf: [MODEL.properties.price, { type: 'null' }],
      description: 'List price of the provider, in credits at markup 1; null: unknown.',
    },
    targets: {
      type: 'array',
      items: { type: 'string' },
      description: 'The upstreams that serve it; `name#2` is a second credential.',
    },
    price_until: {
      type: ['string', 'null'],
      format: 'date',
      description: 'Last day of the price that the provider promised; null: the configuration names none.',
    },
  },
};

const SCHEMA: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'listModelsOfOperator',
  summary: 'List models with their list prices and targets',
  description: 'Returns every model with the source of its price and its list price.',
  response: {
    200: {
      type: 'object',
      required: ['models'],
      properties: { models: { type: 'array', items: OPERATOR_MODEL } },
    },
  },
  'x-docs': {
    refusals: OPERATOR_REFUSALS,
    answer: {
      models: [{ ...DEMO_CHAT, source: 'config', list_price: null, targets: ['demo'], price_until: null }],
    },
  },
};

/** Route `GET /api/admin/models/`. */
export function adminModelsRoute(app: FastifyInstance, { catalog }: { catalog: () => Catalog }): void {
  app.get('/api/admin/models/', { schema: SCHEMA }, async () => operatorModelListView(catalog()));
}
