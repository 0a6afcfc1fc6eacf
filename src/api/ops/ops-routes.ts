import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import type { Registry } from 'prom-client';
import { VERSION } from '../../config/version.ts';
import type { OperatorTokens } from '../http/operator-token.ts';
import { Type } from '../openapi/json-type.ts';
import { BY_OPERATOR_TOKEN } from '../openapi/operation.ts';

export interface OpsDeps {
  readonly operatorTokens: Pick<OperatorTokens, 'requireScraper'>;
  readonly metrics: Pick<Registry, 'metrics' | 'contentType'>;
  /** Checks Redis and the book; must not reject. The details are public, so they must hold no secrets. */
  readonly readiness: () => Promise<{
    readonly redis: { readonly ok: boolean; readonly durable: boolean; readonly detail?: string };
    readonly book: { readonly ok: boolean; readonly detail?: string };
    readonly draining: boolean;
  }>;
}

const docs = { tags: ['Operations'] };
/** The routes for monitoring: health, readiness, metrics (specification section 7, "Operations"). */
export function opsRoutes(deps: OpsDeps): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    healthRoute(app);
    readinessRoute(app, deps);
    metricsRoute(app, deps);
  };
}

function healthRoute(app: FastifyInstance): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readHealth',
    summary: 'Liveness check',
    security: [],
    response: { 200: Health },
    'x-docs': { refusals: [], answer: { status: 'ok', version: VERSION } },
  };
  app.get('/healthz', { schema }, async () => ({ status: 'ok', version: VERSION }));
}

function readinessRoute(app: FastifyInstance, { readiness }: OpsDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readReadiness',
    summary: 'Readiness check',
    description:
      'Tries whether Redis takes the writes of a call. Returns 503 if it does not, and while the gateway stops. Without the book, calls go on: 200 with the status `degraded`.',
    security: [],
    response: { 200: ReadinessReport, 503: ReadinessReport },
    'x-docs': { refusals: [], answer: READY_EXAMPLE, otherAnswers: { 503: UNREADY_EXAMPLE } },
  };
  app.get('/readyz', { schema }, async (_request, reply) => {
    const { redis, book, draining } = await readiness();
    // Not the book: calls go on without it, so no load balancer may take every gateway out for it. A draining gateway is
    // not ready, so that load balancers stop sending traffic.
    const isReady = redis.ok && !draining;
    reply.code(isReady ? 200 : 503);
    if (!isReady) reply.header('x-tollgate-source', 'gateway');
    const able = book.ok ? 'ok' : 'degraded';
    return { status: redis.ok ? (draining ? 'draining' : able) : 'unavailable', redis, book };
  });
}

function metricsRoute(app: FastifyInstance, { operatorTokens, metrics }: OpsDeps): void {
  const schema: FastifySchema = {
    ...docs,
    summary: 'Prometheus metrics',
    operationId: 'readMetrics',
    description:
      'Requires ADMIN_TOKEN or METRICS_TOKEN. If neither is set, the route gets 404. Never has CORS headers.',
    security: BY_OPERATOR_TOKEN,
    response: {
      200: {
        description: 'The metrics.',
        content: { 'text/plain': { schema: Metrics, examples: METRICS_EXAMPLES } },
      },
    },
    'x-docs': {
      refusals: ['invalid_admin_token', 'rate_limit_exceeded', 'unknown_endpoint', 'internal_error'],
    },
  };
  app.get('/metrics', { schema }, async (request, reply) => {
    operatorTokens.requireScraper(request);
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });
}

const Health = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Always `ok`.' }),
    version: Type.String({ description: 'Version of Tollgate.' }),
  },
  { title: 'Health', description: 'The process is up.' },
);

const detail = Type.Optional(Type.String({ description: 'The problem.' }));
const ok = Type.Boolean({ description: 'Whether it answers and takes writes.' });

const ReadinessReport = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded', 'draining', 'unavailable'], {
      description:
        '`degraded`: calls go on without the book; keys and accounts cannot change. `draining`: the gateway is stopping. `unavailable`: calls get 503.',
    }),
    redis: Type.Object({
      ok,
      durable: Type.Boolean({ description: 'Append-only persistence, and no eviction policy.' }),
      detail,
    }),
    book: Type.Object({ ok, detail }),
  },
  { title: 'Readiness', description: 'Whether model calls can be served.' },
);

const READY_EXAMPLE = { status: 'ok', redis: { ok: true, durable: true }, book: { ok: true } };

const Metrics = Type.String({ description: 'Prometheus text format.' });

const UNREADY_EXAMPLE = {
  status: 'unavailable',
  redis: { ok: false, durable: false, detail: 'Redis does not answer.' },
  book: { ok: true },
};

const METRICS_EXAMPLES = {
  metrics: {
    value:
      '# TYPE tollgate_requests_total counter\ntollgate_requests_total{endpoint="/v1/embeddings",code="ok"} 3\n',
  },
};
