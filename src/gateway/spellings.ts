import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path of the route, if its address is another spelling of it. */
    plainPath?: string;
  }
}

/** Start of the paths of model calls. */
const VERSION = '/v1';
/** A page of the dashboard may have such a path. */
const PAGE = /^\/dashboard(?:\/|$)/;

/**
 * Other addresses of a path below `/v1`, to which base URLs lead that end in the wrong place: without `/v1`, with it twice,
 * and below `/api`, as OpenRouter has it.
 */
export function otherSpellings(path: string): string[] {
  if (!path.startsWith(`${VERSION}/`)) return [];
  const spellings = [path.slice(VERSION.length), VERSION + path, `/api${path}`];
  return spellings.filter((spelling) => !PAGE.test(spelling));
}

/** Registers every route that follows in this scope at its other spellings too, which the API's description omits. */
export function spelledFreely(app: FastifyInstance): void {
  app.addHook('onRoute', function (this: FastifyInstance, route: RouteOptions) {
    const { url, method, config, schema } = route;
    // Fastify adds the HEAD route of each spelling itself.
    if (config?.plainPath !== undefined || method === 'HEAD') return;
    for (const spelling of otherSpellings(url)) {
      this.route({
        ...route,
        url: spelling,
        config: { ...config, plainPath: url },
        schema: { ...schema, hide: true },
      });
    }
  });
}

/** The path of a request's route, whichever spelling was asked for; its address if it has no route. */
export function routeOf({ routeOptions, url }: FastifyRequest): string {
  // If the path can't be parsed, there are no options.
  return routeOptions?.config?.plainPath ?? routeOptions?.url ?? url;
}
