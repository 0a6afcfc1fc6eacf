import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { micro } from '../domain/credits.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';
import type { Call } from './call.ts';
import { DEPLOYMENTS, deploymentOf } from './deployments.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { noSuchEndpoint } from './no-such-endpoint.ts';
import { Pipeline, type PipelineParts } from './pipeline.ts';
import { refusalFrom } from './refuse.ts';
import { UnknownMembers } from './request/members.ts';
import { bodyReceiver } from './request/spool/receive-body.ts';
import { contentRoute } from './resources/job-content.ts';
import {
  isDeleted,
  isGood,
  type JobFastifyRequest,
  JobRequest,
  type JobRouteParts,
} from './resources/job-request.ts';
import { spelledFreely } from './spellings.ts';

/** Registers one POST route per endpoint, the routes of jobs, and the other spellings of all. */
export function modelRoutes(parts: PipelineParts): FastifyPluginAsync {
  return async (app) => {
    app.decorateRequest('call', null);
    spelledFreely(app);
    app.removeAllContentTypeParsers();
    // The endpoint decides how to read the body, whatever its content type.
    app.addContentTypeParser(
      '*',
      bodyReceiver({
        ...parts,
        async confirm(request) {
          if (!request.call?.recordIsCurrent) await parts.gatekeeper.authorize(request);
        },
      }),
    );
    const unknown = new UnknownMembers((name) => parts.response.metrics.unknownMember(name));
    await app.register(async (scope) => jobRoutes(scope, { ...parts.response, ...parts }));
    const pipelines = new Map<Endpoint, Pipeline>();
    for (const endpoint of ENDPOINTS) {
      const pipeline = new Pipeline(parts, endpoint, unknown);
      pipelines.set(endpoint, pipeline);
      app.route({
        method: endpoint.method,
        url: endpoint.path,
        onRequest: async (request, reply) => {
          // Anthropic's clients read the id here. It replaces the provider's, which the ledger does not have.
          if (endpoint.format === 'anthropic') reply.header('request-id', request.id);
          await pipeline.enter(request, reply);
        },
        onError: (request, reply, error) => pipeline.refused(request, reply, error),
        // Not async: Fastify would wait for the promise, and the answer does not come through it.
        handler: (request, reply) => {
          pipeline.run(request, reply, request.call as Call).catch((error) => reply.send(error));
        },
      });
    }
    deploymentRoute(app, pipelines);
  };
}

/** Registers the route of Azure's clients, whose address ends in the endpoint and names the model. */
function deploymentRoute(app: FastifyInstance, pipelines: ReadonlyMap<Endpoint, Pipeline>): void {
  const pipelineOf = ({ endpoint }: Pick<Call, 'endpoint'>) => pipelines.get(endpoint) as Pipeline;
  app.post(DEPLOYMENTS, {
    schema: { hide: true },
    onRequest: async (request, reply) => {
      const deployment = deploymentOf(request);
      if (!deployment) throw noSuchEndpoint(request);
      reply.header('cache-control', 'no-store');
      await pipelineOf(deployment).enter(request, reply, deployment.model);
    },
    onError: async (request, reply, error) => {
      const deployment = deploymentOf(request);
      if (deployment) await pipelineOf(deployment).refused(request, reply, error);
    },
    handler: (request, reply) => {
      const call = request.call as Call;
      pipelineOf(call)
        .run(request, reply, call)
        .catch((error) => reply.send(error));
    },
  });
}

/** Maximum bytes of a request body, which has no meaning here; some clients send `{}` with a DELETE. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * Routes about the jobs of an endpoint: `GET` and `DELETE <path>/{id}`, and `GET <path>/{id}/content`.
 *
 *  1 authorize the key                          checks 1–8, by the current record: there is no admission to confirm it
 *  2 find the job among the account's own       replaces check 9: for any other account it does not exist
 *  3 check the key's right to the job's model   check 10
 *  4 take a request from its rpm_limit          section 11
 *  5 ask the upstream
 *  6 refund the charge if the job has failed    before the answer: a client that sees the failure has the credits
 *
 * These requests cost nothing, so checks 11 and 12 do not apply and there is no ledger entry: a key at its spending limit and
 * an account without credits can fetch what they have paid for.
 */
function jobRoutes(app: FastifyInstance, parts: JobRouteParts): void {
  app.decorateRequest('callerKey', null);
  // Read and drop bodies, which have no meaning on these routes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, _body, done) =>
    done(null),
  );
  for (const endpoint of ENDPOINTS) if (endpoint.makesJob) routesOf(app, parts, endpoint);
}

function routesOf(app: FastifyInstance, parts: JobRouteParts, endpoint: Endpoint): void {
  const { metrics } = parts;
  const one = `${endpoint.path}/:id`;
  const options = (label: string) => ({
    exposeHeadRoute: false,
    onRequest: async (request: FastifyRequest) => {
      request.callerKey = await parts.gatekeeper.authorize(request);
    },
    onError: async (_request: FastifyRequest, { raw }: FastifyReply, error: Error) => {
      if (raw.destroyed) metrics.ended(label, 'client_left', 0, 0, micro(0));
      else metrics.refused(label, refusalFrom(error).code);
      if (error instanceof LedgerUnavailable) metrics.undecided(error.reason);
    },
  });
  const asking = (label: string, work: (it: JobRequest) => Promise<FastifyReply>) => ({
    ...options(label),
    handler: async (request: JobFastifyRequest, reply: FastifyReply) => {
      const it = new JobRequest(parts, { endpoint, label }, request, reply);
      return await work(it);
    },
  });

  app.get(
    one,
    asking(labelOf(one), async (it) => {
      const job = await it.job();
      const answer = await it.fetch('GET', job);
      await it.refundIfFailed(job, answer);
      return it.answer(job, answer);
    }),
  );

  app.delete(
    one,
    asking(labelOf(one), async (it) => {
      const job = await it.job();
      // A deleted job can no longer be checked for failure.
      const state = await it.state(job);
      if (!isGood(state) && state.status !== 404) return it.answer(job, state);
      await it.refundIfFailed(job, state);
      const answer = await it.fetch('DELETE', job);
      if (isDeleted(answer)) await parts.ownership.release(job.resource);
      return it.answer(job, answer);
    }),
  );

  const content = `${one}/content`;
  const { onRequest, onError } = options(labelOf(content));
  app.register(async (scope) => {
    scope.addHook('onRequest', onRequest);
    scope.addHook('onError', onError);
    contentRoute(
      scope,
      content,
      parts,
      (request, reply) => new JobRequest(parts, { endpoint, label: labelOf(content) }, request, reply),
    );
  });
}

/** Formats a Fastify route for metrics and docs: `/v1/videos/:id` → `/v1/videos/{id}`. */
function labelOf(route: string): string {
  return route.replace(':id', '{id}');
}
