import type { FastifyReply } from 'fastify';
import type { Upstream } from '../../domain/catalog.ts';
import type { AnswerSink, Exchange, UpstreamAnswer } from '../upstream/exchange.ts';
import { clientHeaders } from '../upstream/headers.ts';

/** Outcome of relaying an answer. */
export type Passed = 'ok' | 'client_left' | 'upstream_broke';

/** Relay for an answer that is neither read nor charged, such as a finished video. Has back-pressure. */
export class ContentRelay implements AnswerSink {
  readonly #raw: FastifyReply['raw'];
  readonly #ended: (how: Passed) => void;

  /** Takes the reply out of Fastify's hands and writes the head. */
  constructor(
    reply: FastifyReply,
    exchange: Exchange,
    answer: UpstreamAnswer,
    upstream: Upstream,
    ended: (how: Passed) => void,
  ) {
    this.#raw = reply.raw;
    this.#ended = ended;
    const length = answer.headers['content-length'];
    const own = typeof length === 'string' ? { 'content-length': length } : {};
    reply.hijack();
    this.#raw.writeHead(answer.statusCode, clientHeaders(answer.headers, upstream, reply.getHeaders(), own));
    this.#raw.on('drain', () => exchange.resume());
  }

  data(chunk: Buffer): boolean {
    return this.#raw.write(chunk);
  }

  end(): void {
    this.#ended('ok');
    this.#raw.end();
  }

  /** Destroys the client's connection. Also called when the exchange is cancelled because the client left. */
  error(): void {
    this.#ended(this.#raw.destroyed ? 'client_left' : 'upstream_broke');
    this.#raw.destroy();
  }
}
