import type { FastifyPluginAsync } from 'fastify';
import type { AdminDeps } from './admin-account.ts';
import { adminAccountRoutes } from './admin-account-routes.ts';
import { adminCreditsRoute } from './admin-credits-route.ts';
import { adminKeyRoutes } from './admin-key-routes.ts';
import { adminReportRoutes } from './admin-report-routes.ts';
import { adminTokenCheck, invalidAdminToken, noSuchRoute } from './admin-token.ts';
import { adminUsageRoute } from './admin-usage-route.ts';
import { speakJson } from './json-routes.ts';
import { newAccountRoute } from './new-account-route.ts';
import { refuseUnknownParameters } from './query.ts';

/** The operator's routes (specification section 7): accounts, their credits, keys and reports. */
export function adminRoutes(deps: AdminDeps): FastifyPluginAsync {
  const { adminToken } = deps.config;
  const isOperator = adminToken === undefined ? undefined : adminTokenCheck(adminToken);
  return async (app) => {
    speakJson(app);
    // The token is checked before the body is read, so that strangers cannot make the gateway parse their bytes.
    app.addHook('onRequest', async (request) => {
      if (isOperator === undefined) throw noSuchRoute();
      if (!isOperator(request)) throw invalidAdminToken();
      refuseUnknownParameters(request);
    });
    newAccountRoute(app, deps);
    adminAccountRoutes(app, deps);
    adminCreditsRoute(app, deps);
    adminKeyRoutes(app, deps);
    adminReportRoutes(app, deps);
    adminUsageRoute(app, deps);
  };
}
