import httpProxy from '@fastify/http-proxy';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { callOf } from './call.ts';
import { ENDPOINTS } from './endpoints.ts';
import { originOf } from './forward.ts';
import { Pipeline, type PipelineParts } from './pipeline.ts';
import { bodyReceiver } from './request/spool/receive-body.ts';
import { WeightedSemaphore } from './request/weighted-semaphore.ts';
import { jobRoutes } from './resources/job-routes.ts';

/**
 * Bytes of large bodies that are judged at once: judging JSON takes memory, mostly far less than its size, at worst a few
 * times it. It takes about 20 ms of CPU for 5 MB, so more at once would not be faster.
 */
const JUDGED_AT_ONCE_BYTES = 16 * 1024 * 1024;
/** What JSON of very many parts takes does not shrink with its size: 13 MB for 1.2 MB. */
const JUDGED_LEAST_BYTES = 4 * 1024 * 1024;

/** One route an endpoint, each through @fastify/http-proxy with the defaults that are wrong here set right. */
export function modelRoutes(parts: PipelineParts): FastifyPluginAsync {
  return async (app) => {
    app.decorateRequest('call', null);
    app.decorateRequest('delivery', null);
    app.removeAllContentTypeParsers();
    // Whatever the content type says, the body is judged as what the endpoint takes.
    app.addContentTypeParser(
      '*',
      bodyReceiver({
        ...parts,
        async confirm(request) {
          if (!request.call?.recordIsCurrent) await parts.gatekeeper.authorise(request);
        },
      }),
    );
    const semaphore = new WeightedSemaphore(JUDGED_AT_ONCE_BYTES, JUDGED_LEAST_BYTES);
    await app.register(async (scope) => jobRoutes(scope, { ...parts, ...parts.delivery }));
    for (const endpoint of ENDPOINTS) {
      const pipeline = new Pipeline(parts, endpoint, semaphore);
      await app.register(async (scope) => {
        scope.addHook('onRequest', (request, reply, done) => {
          // Where Anthropic's clients look for it. It replaces the provider's, which the ledger does not know.
          if (endpoint.format === 'anthropic') reply.header('request-id', request.id);
          pipeline.enter(request, done);
        });
        scope.addHook('onError', async (request, _reply, error) => pipeline.failed(request, error));
        await scope.register(httpProxy, {
          upstream: '',
          routes: [endpoint.path],
          httpMethods: [endpoint.method],
          // Forwards from here, so that the plugin's handler is not reached: it parses four URLs a call to be sure of a
          // destination that is a row of the table (3 % of the gateway's CPU).
          preHandler: (request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void) => {
            pipeline.admit(request, reply).then(() => pipeline.forward(request, reply, done), done);
          },
          replyOptions: {
            getUpstream: (request: FastifyRequest) => originOf(callOf(request).body.model.upstream.url),
          },
          undici: parts.transport,
          // The bytes are judged before they go up; the plugin's own parser would stream them past bodyLimit.
          proxyPayloads: false,
          // A call is sent once: no status, method or error is a reason to send it again.
          retryMethods: [],
          disableRequestLogging: true,
        } as unknown as Parameters<typeof httpProxy>[1]);
      });
    }
  };
}
