import type { FastifyInstance, FastifySchema } from 'fastify';
import { type Catalog, placesOf, targetName } from '../../domain/catalog.ts';
import { timestamp } from '../../domain/period.ts';
import type { TargetReport } from '../../gateway/targets/target-health.ts';
import { operatorModelListView } from '../models/models-route.ts';
import { DEMO_CHAT, MODEL } from '../openapi/model-list.ts';
import { BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { PROVIDERS_EXAMPLE, ProviderList, type ProviderListView } from './providers-view.ts';

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

const MODELS: FastifySchema = {
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
  app.get('/api/admin/models/', { schema: MODELS }, async () => operatorModelListView(catalog()));
}

export interface ProvidersDeps {
  readonly catalog: () => Catalog;
  /** Reports of all gateways on every target of the catalog. */
  readonly targetNews: { reports(): Promise<readonly TargetReport[]> };
}

const PROVIDERS: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'listProviders',
  summary: 'List providers and the health of their targets',
  description:
    'Returns each model at each of its credentials, as all gateways see it; without Redis, as this gateway sees it.',
  response: { 200: ProviderList },
  'x-docs': { refusals: OPERATOR_REFUSALS, answer: PROVIDERS_EXAMPLE },
};

export function adminProvidersRoute(app: FastifyInstance, { catalog, targetNews }: ProvidersDeps): void {
  app.get('/api/admin/providers/', { schema: PROVIDERS }, async () =>
    providerListView(catalog(), await targetNews.reports()),
  );
}

function providerListView(catalog: Catalog, reports: readonly TargetReport[]): ProviderListView {
  const formats = new Map<string, 'openai' | 'anthropic'>();
  const names = new Map<string, string>();
  for (const { upstream } of placesOf(catalog)) {
    formats.set(upstream.name, upstream.format);
    names.set(targetName(upstream), upstream.name);
  }
  const byName = Map.groupBy(reports, ({ target }) => names.get(target));
  return {
    providers: [...formats].map(([name, format]) => ({
      name,
      format,
      targets: (byName.get(name) ?? []).map(targetView),
    })),
  };
}

function targetView(report: TargetReport): ProviderListView['providers'][number]['targets'][number] {
  const { target, model, state, outUntil, lastError, lastErrorAt, latencyMs, calls } = report;
  const time = (at: number | undefined) => (at === undefined ? null : timestamp(at));
  return {
    target,
    model,
    state,
    out_until: time(outUntil),
    last_error: lastError ?? null,
    last_error_at: time(lastErrorAt),
    latency_ms: latencyMs === undefined ? null : Math.round(latencyMs),
    calls,
  };
}
