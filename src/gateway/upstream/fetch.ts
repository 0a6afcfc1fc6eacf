import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Upstream } from '../../domain/catalog.ts';
import { type Address, addressOf } from './address.ts';
import { codingsOf, decoderOf } from './decode.ts';
import { type ClientRequest, upstreamHeaders } from './headers.ts';
import type { UpstreamTransport } from './transport.ts';

/** Maximum bytes of an answer about a job. Most have a few hundred; some include a prompt of 32,000 characters. */
const MAX_BYTES = 4 * 1024 * 1024;

/** A bodyless request about a resource at an upstream. */
export interface UpstreamRequest {
  readonly upstream: Upstream;
  readonly method: 'GET' | 'DELETE';
  /** Path of the resource at the gateway: `/v1/videos/ID`. */
  readonly path: string;
  /** The endpoint's part of it: `/v1/videos`. */
  readonly endpoint: string;
  /** Without the question mark. */
  readonly query: string;
  /** The model's name, for upstreams that have it in their paths. */
  readonly upstreamModel: string;
  /** The client's request; undefined if the gateway itself asks. */
  readonly client: ClientRequest | undefined;
}

export type StreamedAnswer = Dispatcher.ResponseData;

export interface WholeAnswer {
  readonly status: number;
  readonly headers: StreamedAnswer['headers'];
  readonly body: Buffer;
}

/** Where a request goes, and with which headers (name and value in turn). */
export function destinationOf(request: Omit<UpstreamRequest, 'method'>): Address & {
  readonly headers: string[];
} {
  const { upstream, upstreamModel, endpoint, client } = request;
  const address = addressOf(upstream, request.path, upstreamModel, endpoint);
  const query = [address.query, request.query].filter((part) => part !== '').join('&');
  return { ...address, query, headers: upstreamHeaders(client, upstream) };
}

/** Sends the request once. Rejects without an answer's head; `signal` ends the answer too. */
export async function fetchAnswer(
  transport: UpstreamTransport,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<StreamedAnswer> {
  const to = destinationOf(request);
  const { path, query, headers } = to;
  const { method } = request;
  return await transport.fetch(to, {
    path: query === '' ? path : `${path}?${query}`,
    method,
    headers,
    signal,
  });
}

/** Reads and decodes an answer. Rejects if it breaks off, is too large or has an unknown coding. */
export async function wholeAnswer({
  statusCode: status,
  headers,
  body,
}: Pick<StreamedAnswer, 'statusCode' | 'headers'> & { readonly body: Readable }): Promise<WholeAnswer> {
  const codings = codingsOf({ headers });
  const { 'content-encoding': _coding, ...decoded } = headers;
  if (!codings) {
    body.destroy();
    throw new Error('the answer about a job is in an encoding that cannot be read');
  }
  let bytes = await wholeOf(body);
  // Some upstreams compress without saying so.
  for (const coding of codings.length === 0 ? (['gzip'] as const) : codings.toReversed()) {
    const decoder = bytes.length > 0 ? decoderOf(coding, bytes, false) : undefined;
    if (decoder) bytes = await wholeOf(decoder.end(bytes));
  }
  return { status, headers: decoded, body: bytes };
}

async function wholeOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > MAX_BYTES) throw new Error('the answer about a job is too large');
  }
  return Buffer.concat(chunks);
}
