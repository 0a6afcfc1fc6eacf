import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyRequest,
  FastifySchema,
  onSendAsyncHookHandler,
} from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/config.ts';
import { VERSION } from '../../config/version.ts';
import { adminTokenCheck, invalidAdminToken, noSuchRoute } from '../http/callers.ts';
import { Type } from '../openapi/json-type.ts';
import { BY_OPERATOR } from '../openapi/operation.ts';

export interface OpsDeps {
  readonly config: Config;
  readonly metrics: Pick<Registry, 'metrics' | 'contentType'>;
  /** Checks Redis and the book now; must not reject. The details are public, so they must hold no secrets. */
  readonly readiness: () => Promise<{
    readonly redis: { readonly ok: boolean; readonly durable: boolean; readonly detail?: string };
    readonly book: { readonly ok: boolean; readonly detail?: string };
    readonly draining: boolean;
  }>;
}

const docs = { tags: ['Operations'] };
/** Headers that proxies add. Such a request arrives on the proxy's socket, which doesn't identify the client. */
const FORWARDING_HEADER = /^(?:forwarded|via|x-real-ip|x-forwarded-.*|cf-.*)$/;
/** A `Host` that names this machine: `localhost`, or an address, in brackets if it has colons, with or without a port. */
const HOST = /^(?:(localhost)|\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;

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
    description: 'Checks Redis and the book now. Also returns 503 while the gateway stops.',
    security: [],
    response: { 200: ReadinessReport, 503: ReadinessReport },
    'x-docs': { refusals: [], answer: READY_EXAMPLE, otherAnswers: { 503: UNREADY_EXAMPLE } },
  };
  app.get('/readyz', { schema }, async (_request, reply) => {
    const { redis, book, draining } = await readiness();
    const able = redis.ok && book.ok;
    // A draining gateway is not ready, so that load balancers stop sending traffic.
    const isReady = able && !draining;
    reply.code(isReady ? 200 : 503);
    if (!isReady) reply.header('x-tollgate-source', 'gateway');
    return { status: able ? (draining ? 'draining' : 'ok') : 'unavailable', redis, book };
  });
}

function metricsRoute(app: FastifyInstance, { config, metrics }: OpsDeps): void {
  const isOperator = config.adminToken === undefined ? undefined : adminTokenCheck(config.adminToken);
  const schema: FastifySchema = {
    ...docs,
    summary: 'Prometheus metrics',
    operationId: 'readMetrics',
    description:
      'Requires the operator token. Without ADMIN_TOKEN, clients on the same machine need none, and others get 404. Never has CORS headers.',
    security: BY_OPERATOR,
    response: {
      200: {
        description: 'The metrics.',
        content: { 'text/plain': { schema: Metrics, examples: METRICS_EXAMPLES } },
      },
    },
    'x-docs': { refusals: ['invalid_admin_token', 'unknown_endpoint', 'internal_error'] },
  };
  // Pages of other origins must not read metrics through a browser on this machine.
  const onSend: onSendAsyncHookHandler = async (_request, reply, payload) => {
    for (const name of Object.keys(reply.getHeaders())) {
      if (name.startsWith('access-control-')) reply.removeHeader(name);
    }
    return payload;
  };
  app.get('/metrics', { schema, onSend }, async (request, reply) => {
    if (isOperator ? !isOperator(request) : !isLocal(request)) {
      throw isOperator ? invalidAdminToken() : noSuchRoute();
    }
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });
}

/**
 * True if a request comes from this machine, by socket address, and its `Host` names this machine. Any other `Host`
 * belongs to a page whose name resolves here (DNS rebinding), or to a site whose proxy runs here.
 */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  if (Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))) return false;
  const [, name, ipv6, ipv4] = HOST.exec(headers.host ?? '') ?? [];
  return isLoopback(socket.remoteAddress) && (name !== undefined || isLoopback(ipv6 ?? ipv4));
}

function isLoopback(address = ''): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

const Health = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Always `ok`.' }),
    version: Type.String({ description: 'Version of Tollgate.' }),
  },
  { title: 'Health', description: 'The process is up.' },
);

const detail = Type.Optional(Type.String({ description: 'The problem.' }));
const ok = Type.Boolean({ description: 'Whether it answers.' });

const ReadinessReport = Type.Object(
  {
    status: Type.Enum(['ok', 'draining', 'unavailable'], {
      description: '`draining`: the gateway is stopping. `unavailable`: Redis or the book does not answer.',
    }),
    redis: Type.Object({
      ok,
      durable: Type.Boolean({ description: 'Append-only persistence, and no eviction policy.' }),
      detail,
    }),
    book: Type.Object({ ok, detail }),
  },
  { title: 'Readiness', description: 'Whether Redis and the book answer.' },
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
