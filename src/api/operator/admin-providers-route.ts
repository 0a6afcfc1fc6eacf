import type { FastifyInstance, FastifySchema } from 'fastify';
import { type Catalog, placesOf, targetName } from '../../domain/catalog.ts';
import { timestamp as timestampOf } from '../../domain/period.ts';
import type { TargetReport } from '../../gateway/targets/target-health.ts';
import { BY_OPERATOR } from '../openapi/operation.ts';
import { OPERATOR_REFUSALS } from '../openapi/refusals.ts';
import { PROVIDERS_EXAMPLE, ProviderList } from './providers-schema.ts';
import type { ProviderListView } from './providers-view.ts';

export interface ProvidersDeps {
  readonly catalog: () => Catalog;
  /** What all gateways know of every target of the catalog. */
  readonly targetNews: { reports(): Promise<readonly TargetReport[]> };
}

const SCHEMA: FastifySchema = {
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
  app.get('/api/admin/providers/', { schema: SCHEMA }, async () =>
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
  const time = (at: number | undefined) => (at === undefined ? null : timestampOf(at));
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
