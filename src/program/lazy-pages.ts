import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { noSuchEndpoint } from '../gateway/no-such-endpoint.ts';

/** Paths served by the pages app. */
const PLACES = ['/docs', '/docs/*', '/dashboard', '/dashboard/*'];

/**
 * Plugin that forwards page requests to another app, built on the first one: the pages take 2 MB and 40 ms to load, and
 * most gateways rarely serve any. `make` must resolve with a ready app.
 */
export function lazyPages(make: () => Promise<FastifyInstance>): FastifyPluginAsync {
  return async (app) => {
    let made: Promise<FastifyInstance> | undefined;
    const pagesApp = () => {
      made ??= make().catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      return made;
    };
    const handOver = async (request: FastifyRequest, reply: FastifyReply) => {
      const pages = await pagesApp();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      reply.hijack();
      pages.routing(request.raw, reply.raw);
    };
    // `/` redirects browsers to the dashboard, by a relative address: a proxy may serve the gateway below a path. Other clients, some of which probe here first, get 404 without the
    // pages.
    app.get('/', { schema: { hide: true } }, async (request, reply) => {
      if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) throw noSuchEndpoint(request);
      return reply.header('vary', 'accept').redirect('dashboard/', 302);
    });
    for (const place of PLACES) app.get(place, { schema: { hide: true } }, handOver);
    app.addHook('onClose', async () => await (await made)?.close());
  };
}
