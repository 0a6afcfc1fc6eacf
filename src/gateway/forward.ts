import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Model, Target } from '../domain/catalog.ts';
import type { HeldCall } from './call.ts';
import type { ResponseContext } from './response/response-context.ts';
import { ResponseLifecycle } from './response/response-lifecycle.ts';
import { affinityOf, onlyPlaceOf, orderOf, outOf } from './targets/order.ts';
import type { Route } from './targets/tries.ts';
import { addressOf } from './upstream/address.ts';
import { cloudHeaders, isOfCloud } from './upstream/cloud-credentials.ts';
import type { UpstreamAnswer } from './upstream/exchange.ts';
import { upstreamHeaders, upstreamQuery } from './upstream/headers.ts';
import { EXCHANGE, type UpstreamTransport } from './upstream/transport.ts';

declare module 'fastify' {
  interface FastifyRequest {
    lifecycle: ResponseLifecycle | null;
  }
}

const PLAIN_JSON = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i;
/** Placeholder for a body in a file, which reply-from does not take; the transport has it. */
const NO_BODY = Buffer.alloc(0);

/**
 * Sends an admitted call to its upstream; its ResponseLifecycle handles the answer up to the settle.
 *
 * The call goes through `reply.from()` of @fastify/reply-from, which @fastify/http-proxy registers with the route.
 * These two register the route, cache parsed addresses, announce to a client whose body was not fully read that its
 * connection will close, and drop an answer whose client left before its head arrived.
 *
 * We replace the rest. The plugin's handler is never reached (routes.ts). Upstream headers (upstream/headers.ts) and
 * the query are ours and reach the transport inside the Exchange. So are the transport (upstream/transport.ts), its
 * connections, timeouts and cancellation. The relays write the head and body of the answer (response/). Only a handover
 * resends a call (targets/handover.ts), and it bypasses the plugin.
 */
export function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  call: HeldCall,
  { response, transport }: ForwardParts,
): void {
  const lifecycle = new ResponseLifecycle(request, reply, call, response, {
    route: routeOf(call, request, response),
    send: () => sendAgain(request, lifecycle, transport),
  });
  request.lifecycle = lifecycle;
  // The client left during admission: send nothing upstream.
  if (reply.raw.destroyed) {
    lifecycle.clientLeft();
    return;
  }
  if (isOfCloud(lifecycle.call.body.model.upstream)) {
    sendAgain(request, lifecycle, transport);
    return;
  }
  const { origin, path, body } = destinationOf(lifecycle);
  try {
    // Not returned, because Fastify would wait for the returned promise.
    reply.from(path, {
      ...optionsFor(request, lifecycle, origin),
      body: body ?? NO_BODY,
      contentType: 'application/json',
    } as unknown as Parameters<FastifyReply['from']>[1]);
  } catch (error) {
    lifecycle.noHead(error as Error);
  }
}

interface ForwardParts {
  readonly response: ResponseContext;
  readonly transport: UpstreamTransport;
}

/** The call's model at each of its targets, in order. */
function routeOf(
  { body, compiled, targets, isPinned }: HeldCall,
  { headers }: FastifyRequest,
  { targets: { health, lastPlaces, secret } }: ResponseContext,
): Route {
  if (!targets) return { order: [body.model] };
  const affinity = affinityOf(body.value, headers, compiled.key.id, secret);
  const { id, accountId } = compiled.key;
  const conversation = { accountId, name: `${id} ${body.model.slug} ${affinity}` };
  if (isPinned) {
    const only = onlyPlaceOf(targets, affinity, lastPlaces.of(conversation));
    return { order: only.map(modelOf), conversation };
  }
  const availability = ({ model }: Target) => health.availability(model);
  const order = orderOf(targets, affinity, availability);
  return { order: order.map(modelOf), out: outOf(targets, availability).map(modelOf), conversation };
}

const modelOf = ({ model }: Target): Model => model;

/** Current destination of a call. `body` is undefined if it is in a file, which the exchange then has. */
function destinationOf({ call, exchange }: ResponseLifecycle) {
  const { upstream, upstreamModel } = call.body.model;
  const { bytes } = call.upstreamBody;
  const isInMemory = Buffer.isBuffer(bytes);
  if (!isInMemory) exchange.upload = bytes;
  const { origin, path, query } = addressOf(upstream, call.endpoint.path, upstreamModel);
  return { origin, path, query, body: isInMemory ? bytes : undefined };
}

/**
 * Sends a call past the plugin: to its next target, or with a credential that must be fetched first. `reply.from()`
 * would treat a reply whose head was sent as finished.
 */
function sendAgain(
  request: FastifyRequest,
  lifecycle: ResponseLifecycle,
  transport: UpstreamTransport,
): void {
  const { exchange } = lifecycle;
  const { origin, path, body } = destinationOf(lifecycle);
  const query = queryOf(request, lifecycle);
  const { upstream } = lifecycle.call.body.model;
  exchange.headers = headersOf(request, lifecycle);
  const to = { origin, path: query === '' ? path : `${path}?${query}`, method: 'POST' } as const;
  const answered = (error: Error | null, answer?: UpstreamAnswer) =>
    answer ? lifecycle.head(answer) : lifecycle.noHead(error as Error);
  const send = () =>
    transport.request({ ...to, headers: { [EXCHANGE]: exchange }, body: body ?? null }, answered);
  if (!isOfCloud(upstream)) {
    send();
    return;
  }
  // The call may end before it has a credential.
  exchange.answered = answered;
  const signed = cloudHeaders(upstream, { ...to, body: body ?? exchange.upload });
  signed.then(
    (headers) => {
      if (exchange.isCancelled) return;
      exchange.headers.push(...headers);
      send();
    },
    (error: Error) => exchange.cancel(error),
  );
}

function headersOf(request: FastifyRequest, { call, trace }: ResponseLifecycle): string[] {
  const { accountId } = call.compiled.key;
  const client = { headers: request.headers, accountId, contentType: sentType(request, call) };
  const headers = upstreamHeaders(client, call.body.model.upstream);
  trace?.passOn(headers);
  return headers;
}

function queryOf(request: FastifyRequest, { call }: ResponseLifecycle): string {
  const { upstream, upstreamModel } = call.body.model;
  const { query } = addressOf(upstream, call.endpoint.path, upstreamModel);
  const clients = upstreamQuery(request.url, call.endpoint);
  return query === '' || clients === '' ? query + clients : `${query}&${clients}`;
}

/** Options of reply.from() for one call. */
function optionsFor(request: FastifyRequest, lifecycle: ResponseLifecycle, origin: string) {
  return {
    getUpstream: () => origin,
    queryString: () => queryOf(request, lifecycle),
    rewriteRequestHeaders: () => {
      const { exchange } = lifecycle;
      exchange.headers = headersOf(request, lifecycle);
      // reply-from copies its headers three times, so it gets the exchange, which contains them.
      return { [EXCHANGE]: exchange };
    },
    // The relays write the head: copying every header through the reply costs more than Redis does.
    rewriteHeaders: () => ({}),
    onResponse: (_request: FastifyRequest, _reply: FastifyReply, answer: unknown) => {
      const { statusCode, headers, stream } = answer as Omit<UpstreamAnswer, 'body'> & {
        stream: UpstreamAnswer['body'];
      };
      lifecycle.head({ statusCode, headers, body: stream });
    },
    onError: (_reply: FastifyReply, { error }: { error: Error }) => {
      // reply-from wraps the transport's error.
      lifecycle.noHead((error.cause as Error | undefined) ?? error);
    },
  };
}

/**
 * The content type as which the gateway read the body (specification section 4). Otherwise an upstream could read UTF-8
 * JSON as a form and find another model.
 */
function sentType({ headers }: FastifyRequest, { body }: HeldCall): string {
  const type = headers['content-type'] ?? '';
  return body.contentType ?? (PLAIN_JSON.test(type) ? type : 'application/json');
}
