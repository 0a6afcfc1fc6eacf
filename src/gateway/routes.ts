import httpProxy from '@fastify/http-proxy';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { EnteredCall } from './call.ts';
import { ENDPOINTS } from './endpoints.ts';
import { Pipeline, type PipelineParts } from './pipeline.ts';
import { bodyReceiver } from './request/spool/receive-body.ts';
import { UnknownMembers } from './request/unknown-members.ts';
import { jobRoutes } from './resources/job-routes.ts';

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
        turns: parts.response.turns,
        async confirm(request) {
          if (!request.call?.recordIsCurrent) await parts.gatekeeper.authorise(request);
        },
      }),
    );
    app.addHook('preClose', async () => parts.queue.stop());
    const unknown = new UnknownMembers();
    await app.register(async (scope) => jobRoutes(scope, { ...parts.response, ...parts }));
    for (const endpoint of ENDPOINTS) {
      const pipeline = new Pipeline(parts, endpoint, unknown);
      await app.register(async (scope) => {
        scope.addHook('onRequest', async (request, reply) => {
          // Anthropic's clients look for the id here. It replaces the provider's, which the ledger does not know.
          if (endpoint.format === 'anthropic') reply.header('request-id', request.id);
          await pipeline.enter(request, reply);
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
