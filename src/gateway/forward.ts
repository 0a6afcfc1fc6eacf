import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callOf } from './call.ts';
import type { CallBody } from './request/call-body.ts';
import { type ResponseContext, ResponseLifecycle } from './response/response-lifecycle.ts';
import type { UpstreamAnswer } from './upstream/exchange.ts';
import { upstreamHeaders } from './upstream/headers.ts';
import { EXCHANGE } from './upstream/transport.ts';

declare module 'fastify' {
  interface FastifyRequest {
    lifecycle: ResponseLifecycle | null;
  }
}

const PLAIN_JSON = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i;
/** Stands in for a body that the transport has already. */
const NOTHING = Buffer.alloc(0);

/** Options of reply.from() that are the same for every call. */
const FROM_OPTIONS = {
  getUpstream: (request: FastifyRequest) => originOf(callOf(request).body.model.upstream.url),
  rewriteRequestHeaders: (request: FastifyRequest) => {
    const { call, lifecycle } = request;
    if (!call?.body || !lifecycle) throw new Error('forwarding a call that was not read');
    // The plugin copies what it is given three times over: it gets the call, and the transport has the headers.
    const { exchange } = lifecycle;
    exchange.headers = upstreamHeaders(sentHeaders(request, call.body), call.body.model.upstream);
    lifecycle.trace?.passOn(exchange.headers);
    return { [EXCHANGE]: exchange };
  },
  // The relays write the head themselves; copying every header through the reply costs more than the call's Redis work.
  rewriteHeaders: () => ({}),
  onResponse: (request: FastifyRequest, _reply: FastifyReply, answer: unknown) => {
    const { statusCode, headers, stream } = answer as Omit<UpstreamAnswer, 'body'> & {
      stream: UpstreamAnswer['body'];
    };
    request.lifecycle?.head({ statusCode, headers, body: stream });
  },
  onError: (reply: FastifyReply, { error }: { error: Error }) => {
    reply.request.lifecycle?.noHead((error.cause as Error | undefined) ?? error);
  },
};

/** Sends an admitted call to its upstream, once, and sees its answer through to the settle. */
export function forward(request: FastifyRequest, reply: FastifyReply, context: ResponseContext): void {
  const call = callOf(request);
  const { upstream } = call.body.model;
  const { bytes, injectedUsage } = call.upstreamBody;
  const lifecycle = new ResponseLifecycle(request, reply, injectedUsage, context);
  const isInMemory = Buffer.isBuffer(bytes);
  if (!isInMemory) lifecycle.exchange.upload = bytes;
  request.lifecycle = lifecycle;
  // Gone while it was being admitted: nothing is sent upstream.
  if (reply.raw.destroyed) {
    lifecycle.clientLeft();
    return;
  }
  try {
    // Not returned: Fastify would watch a reply that it is given as a promise.
    reply.from(`${upstream.url.slice(originOf(upstream.url).length)}${call.endpoint.path}`, {
      ...FROM_OPTIONS,
      body: isInMemory ? bytes : NOTHING,
      contentType: 'application/json',
    } as unknown as Parameters<FastifyReply['from']>[1]);
  } catch (error) {
    lifecycle.noHead(error as Error);
  }
}

/**
 * What was judged as JSON in UTF-8 must be read as that (contract section 4): an upstream could find another model in the
 * same bytes as a form.
 */
function sentHeaders({ headers }: FastifyRequest, { kind }: CallBody): IncomingHttpHeaders {
  const type = headers['content-type'] ?? '';
  if (kind === 'form' || PLAIN_JSON.test(type)) return headers;
  return { ...headers, 'content-type': 'application/json' };
}

/** `https://host:port` of an upstream's address; what follows it is the path prefix. */
export function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0 ? url : url.slice(0, end);
}
