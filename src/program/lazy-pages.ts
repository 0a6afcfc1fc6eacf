import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { noSuchEndpoint } from '../gateway/no-such-endpoint.ts';

/** Paths that the app of pages serves. */
const PLACES = ['/docs', '/docs/*', '/dashboard', '/dashboard/*'];

/**
 * Plugin that hands requests for pages to another app, made at the first such request: the pages take 2 MB and 40 ms to
 * load, and most gateways are looked at seldom or never. The app that `make` resolves with must be ready.
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
    // `/` leads browsers to the dashboard. Any other client gets 404, which waits for no page: some ask here first.
    app.get('/', { schema: { hide: true } }, async (request, reply) => {
      if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) throw noSuchEndpoint(request);
      return reply.header('vary', 'accept').redirect('/dashboard/', 302);
    });
    for (const place of PLACES) app.get(place, { schema: { hide: true } }, handOver);
    app.addHook('onClose', async () => await (await made)?.close());
  };
}
