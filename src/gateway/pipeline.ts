import httpProxy from '@fastify/http-proxy';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import { micro } from '../domain/credits.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { admit } from './admit.ts';
import type { JsonBody } from './body.ts';
import { type Call, callOf } from './call.ts';
import type { CallBody } from './call-body.ts';
import type { DeliveryContext } from './delivery.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { forward, originOf } from './forward.ts';

import type { Gatekeeper, Judged } from './gatekeeper.ts';
import type { JobRouteParts } from './job-request.ts';
import { jobRoutes } from './job-routes.ts';
import { foldedJson, rereadingMeter } from './json/spooled-json.ts';

import type { Bounds } from './meter/meter.ts';
import type { Objects } from './objects.ts';
import { readBody } from './read-body.ts';
import { refusalFrom } from './refuse.ts';
import { settleCall } from './settle.ts';
import { bodyReceiver, closeWithReply } from './upload/receive-body.ts';
import { Spool, type SpoolFolder } from './upload/spool.ts';
import { Turns } from './upload/turns.ts';
import { upstreamBody } from './upstream-body.ts';
import type { UpstreamTransport } from './upstream-transport.ts';

export interface PipelineParts {
  readonly gatekeeper: Gatekeeper;
  readonly ledger: Ledger;
  readonly catalog: () => Catalog;
  readonly objects: Objects;
  readonly refunds: JobRouteParts['refunds'];
  readonly transport: UpstreamTransport;
  readonly delivery: DeliveryContext;
  readonly bounds: Bounds;
  readonly bodyLimitBytes: number;
  /** Where large bodies are kept while their calls last. */
  readonly spools: SpoolFolder;
}

/**
 * Bytes of large bodies that are judged at once: judging JSON takes memory, mostly far less than its size, at worst a few
 * times it. It takes about 20 ms of CPU for 5 MB, so more at once would not be faster.
 */
const JUDGED_AT_ONCE_BYTES = 16 * 1024 * 1024;

/**
 * The request path: contract section 3 from top to bottom. Each step may throw a GatewayError, which is the answer;
 * nothing has then reached the upstream.
 *
 *  1 who calls, and may they from here and now   checks 1–8: before the body is read, so strangers cost no memory
 *  2 what do they ask for                        check 9: one parse, one scan, no copy (forms: read-body.ts)
 *  3 what may it cost                            the hold, an upper bound
 *  4 may the key, can the account                checks 10–12: one Redis round trip
 *  5 forward, relay, settle                      sections 4 and 5
 */
function pipelineOf(parts: PipelineParts, endpoint: Endpoint, turns: Turns) {
  const newCall = (
    request: FastifyRequest,
    startedAt: number,
    compiled: CompiledKey,
    recordIsCurrent: boolean,
  ): Call => ({
    requestId: request.id,
    endpoint,
    startedAt,
    compiled,
    recordIsCurrent,
    body: undefined,
    spool: undefined,
    upstreamBody: undefined,
    hold: micro(0),
    storedTokens: 0,
    epoch: undefined,
  });
  return {
    /** Calls back within the tick where the key's record is at hand: a promise less on the way of nearly every call. */
    enter(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
      const startedAt = performance.now();
      const entered = ({ compiled, current }: Judged) => {
        request.call = newCall(request, startedAt, compiled, current);
        done();
      };
      let judged: Judged | Promise<Judged>;
      try {
        judged = parts.gatekeeper.judge(request);
      } catch (refusal) {
        done(refusal as Error);
        return;
      }
      if (judged instanceof Promise) judged.then(entered, done);
      else entered(judged);
    },
    /** Check 9, and the bound of what the call can cost; within the tick where nothing is to be waited for. */
    read(request: FastifyRequest, call: Call): undefined | Promise<void> {
      const body = readBody(request, parts.catalog(), endpoint);
      return body instanceof Promise
        ? body.then((read) => this.bound(request, call, read))
        : this.bound(request, call, body);
    },
    bound(request: FastifyRequest, call: Call, body: CallBody): undefined | Promise<void> {
      call.body = body;
      // What goes upstream stands in the call; the upload as it came need not stay beside it.
      request.body = undefined;
      call.upstreamBody = upstreamBody(body, endpoint.asksForUsage);
      endpoint.meter.check?.(body);
      const named = endpoint.meter.references?.(body);
      if (!named?.length) {
        call.hold = endpoint.meter.hold(body, parts.bounds);
        return;
      }
      return parts.objects.tokensBehind(named, body, call.compiled.key).then((storedTokens) => {
        call.storedTokens = storedTokens;
        call.hold = endpoint.meter.hold(body, { ...parts.bounds, storedTokens });
      });
    },
    /** The same for a body in a file, of which nothing large stays in memory. */
    async readSpooled(request: FastifyRequest, reply: FastifyReply, call: Call, spool: Spool): Promise<void> {
      call.spool = spool;
      closeWithReply(spool, request, reply);
      const endTurn = await turns.take(spool.size);
      try {
        await this.read(request, call);
        if (call.body?.kind !== 'json') return;
        call.body = foldedJson(call.body as JsonBody);
        call.endpoint = { ...endpoint, meter: rereadingMeter(endpoint, spool, turns) };
      } finally {
        endTurn();
      }
    },
    /** Of the promises on the way of every call, the one that waits for Redis is the only one. */
    admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { call, body } = request;
      if (!call) return Promise.reject(new Error('a call that did not enter'));
      let reading: undefined | Promise<void>;
      try {
        reading =
          body instanceof Spool ? this.readSpooled(request, reply, call, body) : this.read(request, call);
      } catch (refusal) {
        return this.refused(request, call, refusal);
      }
      const admitRead = () => admit(request, parts.ledger, parts.gatekeeper);
      if (!reading) return admitRead();
      return reading.catch((refusal: unknown) => this.refused(request, call, refusal)).then(admitRead);
    },
    /** Checks 1 to 8 come first, by the record as it is now: a key that was just deleted is refused as that. */
    async refused(request: FastifyRequest, call: Call, refusal: unknown): Promise<never> {
      if (!call.recordIsCurrent) await parts.gatekeeper.authorise(request);
      throw refusal;
    },
    /** A refusal is counted; and whatever fails between the hold and the forwarding, the hold does not stay behind. */
    async failed(request: FastifyRequest, _reply: FastifyReply, error: Error): Promise<void> {
      const { call, delivery } = request;
      if (delivery) return;
      const refusal = refusalFrom(error);
      parts.delivery.meters.refused(endpoint.path, refusal.code);
      parts.delivery.tracing?.refused(request.headers, endpoint.path, refusal, call);
      if (call?.epoch === undefined) return;
      const ending = {
        status: 500,
        outcome: 'upstream_unreachable',
        usage: undefined,
        estimated: false,
      } as const;
      settleCall(parts.ledger, call, ending, () => {});
    },
    forward(request: FastifyRequest, reply: FastifyReply, failed: (error: Error) => void): void {
      try {
        forward(request, reply, parts.delivery);
      } catch (error) {
        failed(error as Error);
      }
    },
  };
}

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
    const turns = new Turns(JUDGED_AT_ONCE_BYTES);
    await app.register(async (scope) => jobRoutes(scope, { ...parts, ...parts.delivery }));
    for (const endpoint of ENDPOINTS) {
      const steps = pipelineOf(parts, endpoint, turns);
      await app.register(async (scope) => {
        scope.addHook('onRequest', steps.enter);
        scope.addHook('onError', steps.failed);
        await scope.register(httpProxy, {
          upstream: '',
          routes: [endpoint.path],
          httpMethods: [endpoint.method],
          // Forwards from here, so that the plugin's handler is not reached: it parses four URLs a call to be sure of a
          // destination that is a row of the table (3 % of the gateway's CPU).
          preHandler: (request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void) => {
            steps.admit(request, reply).then(() => steps.forward(request, reply, done), done);
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
