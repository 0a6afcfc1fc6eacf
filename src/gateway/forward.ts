import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeldCall } from './call.ts';
import { type ResponseContext, ResponseLifecycle } from './response/response-lifecycle.ts';
import type { UpstreamAnswer } from './upstream/exchange.ts';
import { upstreamHeaders, upstreamQuery } from './upstream/headers.ts';
import { EXCHANGE, originOf } from './upstream/transport.ts';

declare module 'fastify' {
  interface FastifyRequest {
    lifecycle: ResponseLifecycle | null;
  }
}

const PLAIN_JSON = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i;
/** Stands in for a body in a file, which reply-from does not take; the transport has it. */
const NO_BODY = Buffer.alloc(0);

/**
 * Sends an admitted call to its upstream, once; its ResponseLifecycle sees the answer through to the settle.
 *
 * The call goes by `reply.from()` of @fastify/reply-from, which @fastify/http-proxy registers with the route. What the
 * two do for us: they register the route; keep parsed addresses; tell a client whose body was not read to its end that its connection will be closed; and drop an
 * answer whose client has gone before its head came.
 *
 * What they do not do: the plugin's handler is not reached (routes.ts). The headers that go upstream are ours
 * (upstream/headers.ts), as is the query, and reach the transport inside the Exchange. The transport is ours (upstream/transport.ts), as
 * are the connections, the timeouts and the cancelling. Head and body of the answer are written by the relays
 * (response/). Nothing is sent again.
 */
export function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  call: HeldCall,
  context: ResponseContext,
): void {
  const { url } = call.body.model.upstream;
  const origin = originOf(url);
  const { bytes } = call.upstreamBody;
  const lifecycle = new ResponseLifecycle(request, reply, call, context);
  const isInMemory = Buffer.isBuffer(bytes);
  if (!isInMemory) lifecycle.exchange.upload = bytes;
  request.lifecycle = lifecycle;
  // The client left while its call was being admitted: nothing is sent upstream.
  if (reply.raw.destroyed) {
    lifecycle.clientLeft();
    return;
  }
  try {
    // Not returned: Fastify would watch a reply that it is given as a promise.
    reply.from(`${url.slice(origin.length)}${call.endpoint.path}`, {
      ...optionsFor(request, lifecycle, origin),
      body: isInMemory ? bytes : NO_BODY,
      contentType: 'application/json',
    } as unknown as Parameters<FastifyReply['from']>[1]);
  } catch (error) {
    lifecycle.noHead(error as Error);
  }
}

/** Options of reply.from() for one call. */
function optionsFor(request: FastifyRequest, lifecycle: ResponseLifecycle, origin: string) {
  return {
    getUpstream: () => origin,
    queryString: () => upstreamQuery(request.url, lifecycle.call.endpoint),
    rewriteRequestHeaders: () => {
      const { call, exchange, trace } = lifecycle;
      const { headers } = request;
      const { accountId } = call.compiled.key;
      const client = { headers, accountId, contentType: sentType(request, call) };
      exchange.headers = upstreamHeaders(client, call.body.model.upstream);
      trace?.passOn(exchange.headers);
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
