import type { FastifyRequest } from 'fastify';
import type { ReadCall } from '../call.ts';
import type { CallTrace } from '../observers.ts';
import { addressOf } from './address.ts';
import { cloudHeaders, isOfCloud } from './cloud-credentials.ts';
import type { Exchange } from './exchange.ts';
import { upstreamHeaders, upstreamQuery } from './headers.ts';
import type { UpstreamTransport } from './transport.ts';

const PLAIN_JSON = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i;

/** The sender of a call. */
interface Sending {
  readonly call: ReadCall;
  readonly trace: CallTrace | undefined;
}

/** Sends a call to its current target. The exchange, whose `answered` must be set, gets its answer. */
export function send(
  request: FastifyRequest,
  { call, trace }: Sending,
  exchange: Exchange,
  transport: UpstreamTransport,
): void {
  const { upstream, upstreamModel } = call.facts.model;
  const to = addressOf(upstream, call.endpoint.path, upstreamModel);
  const { origin, path: plain, query } = to;
  const queries = [query, upstreamQuery(request.url, call.endpoint)].filter((part) => part !== '');
  const path = queries.length === 0 ? plain : `${plain}?${queries.join('&')}`;
  const { accountId } = call.compiled.key;
  const client = { headers: request.headers, accountId, contentType: sentType(request, call) };
  const headers = upstreamHeaders(client, upstream);
  trace?.passOn(headers);
  const { bytes: body } = call.sent;
  if (!isOfCloud(upstream)) {
    transport.send(to, { path, headers, body }, exchange);
    return;
  }
  // The call may end before it has a credential.
  cloudHeaders(upstream, { method: 'POST', origin, path, body }).then(
    (credential) => {
      if (exchange.isCancelled) return;
      headers.push(...credential);
      transport.send(to, { path, headers, body }, exchange);
    },
    (error: Error) => exchange.cancel(error),
  );
}

/**
 * The content type as which the gateway read the body (specification section 4). Otherwise an upstream could read UTF-8
 * JSON as a form and find another model.
 */
function sentType({ headers }: FastifyRequest, { body }: ReadCall): string {
  const type = headers['content-type'] ?? '';
  return body.contentType ?? (PLAIN_JSON.test(type) ? type : 'application/json');
}
