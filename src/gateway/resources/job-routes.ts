import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { micro } from '../../domain/credits.ts';
import { LedgerUnavailable } from '../../ledger/ledger.ts';
import { ENDPOINTS, type Endpoint } from '../endpoints.ts';
import { refusalFrom } from '../refuse.ts';
import { isDeleted, isGood, type JobFastifyRequest, JobRequest, type JobRouteParts } from './job-request.ts';

/** Most bytes of a request's body, which has no meaning here; some clients send `{}` with a DELETE. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * Routes about the jobs of an endpoint: `GET` and `DELETE <path>/{id}`, and `GET <path>/{id}/content`.
 *
 *  1 authorise the key                          checks 1–8, by the current record: there is no admission to confirm it
 *  2 find the job among the account's own       replaces check 9: for any other account it does not exist
 *  3 check the key's right to the job's model   check 10
 *  4 take a place in its limits of calls        section 11, if there are any (admit-read.ts)
 *  5 ask the upstream
 *  6 refund the charge if the job has failed    before the answer: a client that sees the failure has the credits
 *
 * These requests cost nothing, so checks 11 and 12 do not apply and there is no ledger entry: a key at its spending limit and
 * an account without credits can fetch what they have paid for.
 */
export function jobRoutes(app: FastifyInstance, parts: JobRouteParts): void {
  app.decorateRequest('callerKey', null);
  // A body has no meaning on these routes; it is read and dropped.
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
      request.callerKey = await parts.gatekeeper.authorise(request);
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
      try {
        const answer = await it.fetch('GET', job);
        await it.refundIfFailed(job, answer);
        return it.answer(job, answer);
      } finally {
        it.end();
      }
    }),
  );

  app.delete(
    one,
    asking(labelOf(one), async (it) => {
      const job = await it.job();
      try {
        // Once the job is deleted, the upstream can no longer say whether it failed.
        const state = await it.state(job);
        if (!isGood(state) && state.status !== 404) return it.answer(job, state);
        await it.refundIfFailed(job, state);
        const answer = await it.fetch('DELETE', job);
        if (isDeleted(answer)) await parts.ownership.release(job.resource);
        return it.answer(job, answer);
      } finally {
        it.end();
      }
    }),
  );

  const content = `${one}/content`;
  app.get(
    content,
    asking(labelOf(content), async (it) => await it.pass(await it.job(), '/content')),
  );
}

/** A route of Fastify as metrics and documents write it: `/v1/videos/:id` → `/v1/videos/{id}`. */
function labelOf(route: string): string {
  return route.replace(':id', '{id}');
}
