import type { Upstream } from '../../domain/catalog.ts';
import { addressOf } from './address.ts';
import { codingsOf, decode } from './decode.ts';
import type { AnswerSink, Exchange, UpstreamAnswer } from './exchange.ts';
import { RequestTimeout } from './failure.ts';
import { type ClientRequest, upstreamHeaders } from './headers.ts';
import { EXCHANGE, type UpstreamTransport } from './transport.ts';

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

export interface WholeAnswer {
  readonly status: number;
  readonly headers: UpstreamAnswer['headers'];
  readonly body: Buffer;
}

/**
 * Sends the request once. Calls `onHead` once, with the head of the answer or the error; it must pipe the answer to a
 * sink before it returns.
 */
export function send(
  transport: UpstreamTransport,
  request: UpstreamRequest,
  exchange: Exchange,
  onHead: (error: Error | null, answer?: UpstreamAnswer) => void,
): void {
  const { upstream, upstreamModel, endpoint, client } = request;
  const { origin, path, query } = addressOf(upstream, request.path, upstreamModel, endpoint);
  const queries = [query, request.query].filter((part) => part !== '').join('&');
  exchange.headers = upstreamHeaders(client, upstream);
  transport.request(
    {
      origin,
      path: queries === '' ? path : `${path}?${queries}`,
      method: request.method,
      headers: { [EXCHANGE]: exchange },
      body: null,
    },
    onHead,
  );
}

/**
 * Sends the request and resolves with the whole, decoded answer. Rejects if the answer breaks off, is too large, or
 * exceeds `timeoutMs`.
 */
export async function fetchAnswer(
  transport: UpstreamTransport,
  question: UpstreamRequest,
  exchange: Exchange,
  timeoutMs: number,
): Promise<WholeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  const timer = setTimeout(() => exchange.cancel(new RequestTimeout()), timeoutMs);
  send(transport, question, exchange, (error, answer) => {
    if (!answer) return reject(error);
    const codings = codingsOf(answer);
    if (codings) {
      const open = (head: UpstreamAnswer) => new Gathering(head, exchange, resolve, reject);
      decode(answer, { codings, isBinary: false, open });
      return;
    }
    const unreadable = new Error('the answer about a job is in an encoding that cannot be read');
    reject(unreadable);
    exchange.cancel(unreadable);
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

class Gathering implements AnswerSink {
  readonly #answer: UpstreamAnswer;
  readonly #exchange: Exchange;
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(
    answer: UpstreamAnswer,
    exchange: Exchange,
    resolve: (answer: WholeAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#answer = answer;
    this.#exchange = exchange;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  data(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length <= MAX_BYTES) return true;
    const tooLarge = new Error('the answer about a job is too large');
    this.#reject(tooLarge);
    this.#exchange.cancel(tooLarge);
    return false;
  }

  end(): void {
    const { statusCode: status, headers } = this.#answer;
    this.#resolve({ status, headers, body: Buffer.concat(this.#chunks) });
  }

  error(error: Error): void {
    this.#reject(error);
  }
}
