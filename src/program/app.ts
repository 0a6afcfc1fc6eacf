import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import cors from '@fastify/cors';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { type AccountDeps, accountRoutes } from '../api/account/account-routes.ts';
import { auditRoutes } from '../api/audit/audit-routes.ts';
import type { RefusedChanges } from '../api/audit/refused-changes.ts';
import { compatibleRoutes } from '../api/compatible/compatible-routes.ts';
import { type ExplainDeps, explainRoutes } from '../api/explain/explain-route.ts';
import { compressAnswers } from '../api/http/compressed-answers.ts';
import { boundAnswers } from '../api/http/long-answer.ts';
import type { OperatorTokens } from '../api/http/operator-token.ts';
import { type KeysDeps, keysRoutes } from '../api/keys/keys-routes.ts';
import { accountModelsRoute, modelsRoute } from '../api/models/models-route.ts';
import { openapi } from '../api/openapi/document.ts';
import type { AdminDeps } from '../api/operator/admin-account-routes.ts';
import type { HealthDeps } from '../api/operator/admin-health-route.ts';
import { adminRoutes } from '../api/operator/admin-routes.ts';
import { type OpsDeps, opsRoutes } from '../api/ops/ops-routes.ts';
import { type AcceptanceDeps, acceptanceRoutes } from '../api/people/acceptance-routes.ts';
import { identityRoutes } from '../api/people/identity-routes.ts';
import { type InvitationDeps, invitationRoutes } from '../api/people/invitation-routes.ts';
import { membersRoutes } from '../api/people/members-routes.ts';
import { type OidcDeps, oidcRoutes } from '../api/people/oidc-routes.ts';
import type { PeopleDeps } from '../api/people/people-routes.ts';
import { resetRoute } from '../api/people/reset-route.ts';
import { sessionRoutes } from '../api/people/session-routes.ts';
import { type SetupDeps, setupRoute } from '../api/people/setup-route.ts';
import { GatewayError } from '../domain/errors.ts';
import { newRequestId } from '../domain/request-id.ts';
import { boundConnections } from '../gateway/connection-bound.ts';
import { LIMIT_HEADERS } from '../gateway/limits.ts';
import { noSuchEndpoint } from '../gateway/no-such-endpoint.ts';
import { runOneAtATime } from '../gateway/one-at-a-time.ts';
import type { PipelineParts } from '../gateway/pipeline.ts';
import { presentsKey } from '../gateway/presented-key.ts';
import { ConnectionRefuser, refusalHeaders, refusalText, refuse } from '../gateway/refuse.ts';
import { checkHead, originForm } from '../gateway/request/request-head.ts';
import { modelRoutes } from '../gateway/routes.ts';
import { routeOf } from '../gateway/spellings.ts';
import { RequestLog } from '../log/log.ts';
import type { Pools } from '../shares/pools.ts';
import { lazyPages } from './lazy-pages.ts';

/** Interval at which Node checks for connections beyond `server.headTimeoutMs` or `server.bodyTimeoutMs`. */
const CHECK_EVERY_MS = 2_000;

/** Start of the paths of model calls. */
const CALLS = '/v1';
/** Paths of the operator and of signing in, which pages of other origins may neither ask nor read. */
const OWN_ORIGIN = /^\/(?:metrics|api\/(?:admin|session|setup|invitations))(?:[/?]|$)/;

export type AppParts = KeysDeps &
  AccountDeps &
  AdminDeps &
  ExplainDeps &
  InvitationDeps &
  AcceptanceDeps &
  SetupDeps &
  OidcDeps &
  PeopleDeps &
  HealthDeps &
  OpsDeps & {
    readonly operatorTokens: OperatorTokens;
    readonly refusedChanges: RefusedChanges;
    readonly pipeline: PipelineParts;
    readonly pools: Pools;
    readonly logger: FastifyBaseLogger;
  };

/**
 * No-op compilers: route schemas only document /openapi.json. Fastify's compilers, which would validate and serialize,
 * take 60 ms and 4 MB to load; tests compare the answers with their schemas instead.
 */
const DESCRIBING_ONLY = {
  compilersFactory: { buildValidator: () => () => () => true, buildSerializer: () => () => JSON.stringify },
  // Fastify's types allow only Ajv validators.
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;

/** Builds the Fastify instance with every route; doesn't listen. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { server } = parts.config;
  const connections = new ConnectionRefuser();
  const app = Fastify({
    loggerInstance: parts.logger,
    // A log line per request would cost more CPU than forwarding it; metrics and the ledger record each call.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    childLoggerFactory: (logger, bindings) => new RequestLog(logger, bindings),
    schemaController: DESCRIBING_ONLY,
    bodyLimit: parts.pipeline.bodyLimitBytes,
    requestTimeout: server.bodyTimeoutMs,
    connectionTimeout: server.bodyTimeoutMs,
    keepAliveTimeout: server.keepAliveTimeoutMs,
    http: {
      // Fastify applies its setting only later, and Node requires the next one to be no longer.
      requestTimeout: server.bodyTimeoutMs,
      headersTimeout: Math.min(server.headTimeoutMs, server.bodyTimeoutMs),
      connectionsCheckingInterval: CHECK_EVERY_MS,
      // checkHead refuses requests without Host, with a message in the API's format.
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    // During a stop, open connections still serve requests and announce their close (serve.ts).
    return503OnClosing: false,
    frameworkErrors: refuse,
    clientErrorHandler: connections.refuse,
    rewriteUrl: originForm,
    routerOptions: { ignoreTrailingSlash: true },
    // The gatekeeper reads the client's address itself, and trusts only proxies in trusted CIDRs.
    trustProxy: false,
  });
  app.server
    .on('request', connections.note)
    .on('timeout', connections.timeOut)
    .on('connect', connections.refuseTunnel);
  boundConnections(app.server, parts.pools.connections);
  expectations(app.server);
  runOneAtATime(app.server, parts.pools.ahead);
  app.setErrorHandler(refuse);
  app.setNotFoundHandler((request) => {
    throw noSuchEndpoint(request);
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Browsers must not treat an answer of another type as a page or script.
    reply.header('x-content-type-options', 'nosniff');
    // A cache in front must not show one account's answer to another.
    if (request.url.startsWith(CALLS) || routeOf(request).startsWith(CALLS))
      reply.header('cache-control', 'no-store');
    checkHead(request.raw);
    // The plugin below would allow a preflight, and no route can remove its headers.
    if (request.method === 'OPTIONS' && isOwnOrigin(request.url)) throw noSuchEndpoint(request);
    done();
  });
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'x-request-id',
      'request-id',
      'x-tollgate-charge',
      'x-tollgate-source',
      'x-tollgate-warning',
      'x-upstream-request-id',
      'x-should-retry',
      'retry-after',
      'retry-after-ms',
      ...LIMIT_HEADERS,
    ],
    maxAge: 3_600,
    strictPreflight: false,
  });
  // Unknown routes are answered before the body is read, so strangers can't make the gateway read bodies for nothing.
  app.addHook('onRequest', (request, reply, done) => {
    if (isOwnOrigin(request.url) || mayHaveSession(request)) {
      for (const name of Object.keys(reply.getHeaders())) {
        if (name.startsWith('access-control-')) reply.removeHeader(name);
      }
    }
    done(request.is404 ? noSuchEndpoint(request) : undefined);
  });
  app.addHook('onError', (request, _reply, error) => parts.refusedChanges.note(request, error));
  boundAnswers(app, parts.pools, parts.gatekeeper);
  await app.register(openapi());
  await app.register(modelRoutes(parts.pipeline));
  await app.register(modelsRoute(parts.pipeline));
  await app.register(managementApi(parts));
  await app.register(opsRoutes(parts));
  await app.register(
    lazyPages(async () => {
      const { buildPages } = await import('./pages.ts');
      return await buildPages(app.swagger(), parts.logger);
    }),
  );
  return app;
}

/** The routes below `/api/`, and others about a key. */
function managementApi(parts: AppParts): FastifyPluginAsync {
  return async (api) => {
    await compressAnswers(api);
    await api.register(keysRoutes(parts));
    await api.register(explainRoutes(parts));
    await api.register(accountRoutes(parts));
    await api.register(accountModelsRoute(parts));
    await api.register(compatibleRoutes(parts));
    await api.register(membersRoutes(parts));
    await api.register(invitationRoutes(parts));
    await api.register(acceptanceRoutes(parts));
    await api.register(auditRoutes(parts));
    await api.register(sessionRoutes(parts));
    await api.register(oidcRoutes(parts));
    await api.register(identityRoutes(parts));
    await api.register(setupRoute(parts));
    await api.register(resetRoute(parts));
    await api.register(adminRoutes(parts));
  };
}

/** True for paths that have no CORS, in any spelling that the router takes. */
function isOwnOrigin(url: string): boolean {
  if (url.startsWith('/v1/')) return false;
  try {
    return OWN_ORIGIN.test(url.includes('%') ? decodeURI(url) : url);
  } catch {
    return false;
  }
}

/** Whether a request may be one of a person, by a cookie. */
function mayHaveSession({ headers }: FastifyRequest): boolean {
  return headers.cookie !== undefined && !presentsKey(headers);
}

/**
 * Answers `Expect: 100-continue` when the gateway begins to read the body, after authorization, so a refused client
 * need not send it (RFC 9110 §10.1.1). Node alone would answer at once.
 */
function expectations(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue();
    });
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = new GatewayError('invalid_request', 'The Expect header may only be 100-continue.');
    const body = refusalText(refusal, request.url ?? '');
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'x-request-id': newRequestId(),
      ...refusalHeaders(417, refusal),
      connection: 'close',
    };
    response.writeHead(417, headers).end(body);
  });
}
