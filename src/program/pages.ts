import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { DOCS_PAGE } from '../api/openapi/page.ts';
import { dashboardRoutes } from '../dashboard/dashboard-routes.ts';
import { newRequestId } from '../domain/request-id.ts';
import { noSuchEndpoint } from '../gateway/no-such-endpoint.ts';
import { refuse } from '../gateway/refuse.ts';

/** Builds /docs and /dashboard as an app that doesn't listen, for lazy-pages.ts. `document` is the OpenAPI document. */
export async function buildPages(
  document: object,
  loggerInstance: FastifyBaseLogger,
): Promise<FastifyInstance> {
  const pages = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    routerOptions: { ignoreTrailingSlash: true },
  });
  pages.setErrorHandler(refuse);
  pages.setNotFoundHandler((request) => {
    throw noSuchEndpoint(request);
  });
  await pages.register(swagger, { mode: 'static', specification: { document: document as never } });
  await pages.register(swaggerUi, DOCS_PAGE);
  await pages.register(dashboardRoutes());
  await pages.ready();
  return pages;
}
