import httpProxy from '@fastify/http-proxy';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { EnteredCall } from './call.ts';
import { ENDPOINTS } from './endpoints.ts';
import { Pipeline, type PipelineParts } from './pipeline.ts';
import { bodyReceiver } from './request/spool/receive-body.ts';
import { WeightedSemaphore } from './request/weighted-semaphore.ts';
import { jobRoutes } from './resources/job-routes.ts';

/**
 * Bytes of large bodies that are read at once. Reading JSON takes memory: mostly far less than its size, at worst a few
 * times it. 5 MB take about 20 ms of CPU, so more at once would not be faster.
 */
const READ_AT_ONCE_BYTES = 16 * 1024 * 1024;
/** Bytes that a body counts as at least: JSON of very many parts takes 13 MB for 1.2 MB. */
const READ_LEAST_BYTES = 4 * 1024 * 1024;

/**
 * One POST route an endpoint, registered through @fastify/http-proxy. What the plugin does for a call, and what not, is
 * said in forward.ts.
 */
export function modelRoutes(parts: PipelineParts): FastifyPluginAsync {
  return async (app) => {
    app.decorateRequest('call', null);
    app.decorateRequest('lifecycle', null);
    app.removeAllContentTypeParsers();
    // The body is read as the endpoint takes it, whatever its content type says.
    app.addContentTypeParser(
      '*',
      bodyReceiver({
        ...parts,
        async confirm(request) {
          if (!request.call?.recordIsCurrent) await parts.gatekeeper.authorise(request);
        },
      }),
    );
    app.addHook('preClose', async () => parts.queue.stop());
    const semaphore = new WeightedSemaphore(READ_AT_ONCE_BYTES, READ_LEAST_BYTES);
    await app.register(async (scope) => jobRoutes(scope, { ...parts, ...parts.response }));
    for (const endpoint of ENDPOINTS) {
      const pipeline = new Pipeline(parts, endpoint, semaphore);
      await app.register(async (scope) => {
        scope.addHook('onRequest', async (request, reply) => {
          // Anthropic's clients look for the id here. It replaces the provider's, which the ledger does not know.
          if (endpoint.format === 'anthropic') reply.header('request-id', request.id);
          await pipeline.enter(request);
        });
        scope.addHook('onError', (request, reply, error) => pipeline.refused(request, reply, error));
        await scope.register(httpProxy, {
          upstream: '',
          routes: [endpoint.path],
          httpMethods: [endpoint.method],
          // `done` is called for refusals only: the call is forwarded from here, and the plugin's own handler is not
          // reached. It parses four URLs a call to be sure of a destination that is a row of the table (3 % of the
          // CPU).
          preHandler: (request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void) => {
            // The hook above has let it enter.
            pipeline.run(request, reply, request.call as EnteredCall).catch(done);
          },
          // The plugin wants one of `upstream` and this; only its own handler calls it.
          replyOptions: { getUpstream: () => '' },
          undici: parts.transport,
          // The body is read before it goes upstream; the plugin's own parser would stream it past bodyLimit.
          proxyPayloads: false,
          // A call is sent once: no status, method or error is a reason to send it again.
          retryMethods: [],
          disableRequestLogging: true,
        } as unknown as Parameters<typeof httpProxy>[1]);
      });
    }
  };
}
