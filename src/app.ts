import cors from '@fastify/cors';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { type AccountDeps, accountRoutes } from './api/account-routes.ts';
import { type AdminDeps, adminRoutes } from './api/admin-routes.ts';
import { type ExplainDeps, explainRoutes } from './api/explain-route.ts';
import { type KeysDeps, keysRoutes } from './api/keys-routes.ts';
import { openapi } from './api/openapi.ts';
import { type OpsDeps, opsRoutes } from './api/ops-routes.ts';
import { dashboardRoutes } from './dashboard/dashboard-routes.ts';
import { GatewayError } from './domain/errors.ts';
import { newRequestId } from './domain/request-id.ts';
import { modelsRoute } from './gateway/models-route.ts';
import { modelRoutes, type PipelineParts } from './gateway/pipeline.ts';
import { refuse, refuseConnection } from './gateway/refuse.ts';

/** Slower clients than this are cut: an open socket is not free (contract section 1 sets no value). */
const HEADERS_TIMEOUT_MS = 15_000;
const BODY_TIMEOUT_MS = 120_000;
/** How often Node looks for connections that are past these. */
const CHECK_EVERY_MS = 2_000;
/** Above the 60 s of common load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 72_000;

export type AppParts = KeysDeps &
  AccountDeps &
  AdminDeps &
  ExplainDeps &
  OpsDeps & { readonly pipeline: PipelineParts; readonly logger: FastifyBaseLogger };

/** The Fastify instance with every route; not listening. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: parts.logger,
    // One line a request would cost more than the forwarding; metrics and the ledger tell what happened.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    // A child logger for each request would cost more than judging it; what is logged of one names its id.
    childLoggerFactory: (logger) => logger,
    bodyLimit: parts.pipeline.bodyLimitBytes,
    requestTimeout: BODY_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: CHECK_EVERY_MS },
    forceCloseConnections: 'idle',
    // While stopping, connections that are open are served to their end, each told to close.
    return503OnClosing: false,
    frameworkErrors: refuse,
    clientErrorHandler: refuseConnection,
    routerOptions: { ignoreTrailingSlash: true },
    // The client's address is read by the gatekeeper, which walks only through trusted CIDRs.
    trustProxy: false,
  });
  app.setErrorHandler(refuse);
  app.setNotFoundHandler((request) => {
    throw new GatewayError('unknown_endpoint', `There is no ${request.method} ${pathOf(request.url)} here.`);
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'x-tollgate-charge', 'retry-after'],
    maxAge: 3_600,
    strictPreflight: false,
  });
  await app.register(openapi());
  await app.register(modelRoutes(parts.pipeline));
  await app.register(modelsRoute(parts.pipeline));
  await app.register(keysRoutes(parts));
  await app.register(explainRoutes(parts));
  await app.register(accountRoutes(parts));
  await app.register(adminRoutes(parts));
  await app.register(opsRoutes(parts));
  await app.register(dashboardRoutes());
  return app;
}

/** Without the query: a key that somebody put there must not come back in an answer. */
function pathOf(url: string): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? '';
}
