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
/** Stands in for a body in a file, which reply-from does not take; the transport has it. */
const NO_BODY = Buffer.alloc(0);

/**
 * Sends an admitted call to its upstream; its ResponseLifecycle sees the answer through to the settle.
 *
 * The call goes by `reply.from()` of @fastify/reply-from, which @fastify/http-proxy registers with the route. What the
 * two do for us: they register the route; keep parsed addresses; tell a client whose body was not read to its end that its connection will be closed; and drop an
 * answer whose client has gone before its head came.
 *
 * What they do not do: the plugin's handler is not reached (routes.ts). The headers that go upstream are ours
 * (upstream/headers.ts), as is the query, and reach the transport inside the Exchange. The transport is ours (upstream/transport.ts), as
 * are the connections, the timeouts and the cancelling. Head and body of the answer are written by the relays
 * (response/). Nothing is sent again but by a hand-over (targets/handover.ts), which goes past the plugin.
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
  // The client left while its call was being admitted: nothing is sent upstream.
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
    // Not returned: Fastify would watch a reply that it is given as a promise.
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

/** The call's model at each target that may be asked for it, in order. */
function routeOf(
  { body, compiled, targets, isPinned }: HeldCall,
  { headers }: FastifyRequest,
  { targets: { health, lastPlaces } }: ResponseContext,
): Route {
  if (!targets) return { order: [body.model] };
  const affinity = affinityOf(body.value, headers, compiled.key.id);
  const conversation = `${compiled.key.id} ${body.model.slug} ${affinity}`;
  if (isPinned) {
    const only = onlyPlaceOf(targets, affinity, lastPlaces.of(conversation));
    return { order: only.map(modelOf), conversation };
  }
  const availability = ({ model }: Target) => health.availability(model);
  const order = orderOf(targets, affinity, availability);
  return { order: order.map(modelOf), out: outOf(targets, availability).map(modelOf), conversation };
}

const modelOf = ({ model }: Target): Model => model;

/** Where a call goes now. `body`: undefined if it is in a file, which the exchange has then. */
function destinationOf({ call, exchange }: ResponseLifecycle) {
  const { upstream, upstreamModel } = call.body.model;
  const { bytes } = call.upstreamBody;
  const isInMemory = Buffer.isBuffer(bytes);
  if (!isInMemory) exchange.upload = bytes;
  const { origin, path, query } = addressOf(upstream, call.endpoint.path, upstreamModel);
  return { origin, path, query, body: isInMemory ? bytes : undefined };
}

/** Sends a call past the plugin: to its next target, or with a credential that has to be fetched first. Not by `reply.from()`, which would take a reply whose head has gone for one that is over. */
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
  const send = () =>
    transport.request({ ...to, headers: { [EXCHANGE]: exchange }, body: body ?? null }, (error, answer) =>
      answer ? lifecycle.head(answer) : lifecycle.noHead(error as Error),
    );
  if (!isOfCloud(upstream)) {
    send();
    return;
  }
  const signed = cloudHeaders(upstream, { ...to, body: body ?? exchange.upload });
  signed.then(
    (headers) => {
      exchange.headers.push(...headers);
      send();
    },
    (error: Error) => lifecycle.noHead(error),
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
      // reply-from copies the headers that it is given three times over: it gets the exchange, which has them.
      return { [EXCHANGE]: exchange };
    },
    // The relays write the head themselves: to copy every header through the reply costs more than Redis does.
    rewriteHeaders: () => ({}),
    onResponse: (_request: FastifyRequest, _reply: FastifyReply, answer: unknown) => {
      const { statusCode, headers, stream } = answer as Omit<UpstreamAnswer, 'body'> & {
        stream: UpstreamAnswer['body'];
      };
      lifecycle.head({ statusCode, headers, body: stream });
    },
    onError: (_reply: FastifyReply, { error }: { error: Error }) => {
      // reply-from wraps the transport's error in one of its own.
      lifecycle.noHead((error.cause as Error | undefined) ?? error);
    },
  };
}

/**
 * The content type that says how the gateway read the body (specification section 4): in bytes that were read as JSON in
 * UTF-8 an upstream could find another model if it read them as a form.
 */
function sentType({ headers }: FastifyRequest, { body }: HeldCall): string {
  const type = headers['content-type'] ?? '';
  return body.kind === 'form' || PLAIN_JSON.test(type) ? type : 'application/json';
}
