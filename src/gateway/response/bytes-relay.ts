import { creditsString } from '../../domain/credits.ts';
import { chargeOf } from '../settle.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { NO_USAGE, type Reading, type Recipient } from './recipient.ts';

/**
 * Relay for a successful answer whose content the gateway does not read, such as speech. Each part is forwarded as it
 * arrives, with back-pressure. Only the end of the answer waits for the settle: the part with the last byte if the
 * length is known, else the end of the chunked encoding. So the client never waits for sound that has already arrived.
 *
 * The price is known before the answer: the charge is announced in its head and does not depend on whether the client
 * receives it all, because the upstream produces and bills all of it once it has begun. Before the first byte nothing
 * is charged.
 */
export class BytesRelay implements AnswerSink {
  readonly #recipient: Recipient;
  readonly #answer: UpstreamAnswer;
  /** Content-Length of the answer, in bytes; undefined: the answer is chunked. */
  readonly #announced: number | undefined;
  #received = 0;
  #last: Buffer | undefined;

  constructor(recipient: Recipient, answer: UpstreamAnswer) {
    this.#recipient = recipient;
    this.#answer = answer;
    const length = answer.headers['content-length'];
    this.#announced = typeof length === 'string' ? Number(length) : undefined;
  }

  /** The usage so far. Undefined before the first byte: nothing is charged then. */
  reading(): Reading | undefined {
    return this.#received > 0 ? this.#read() : undefined;
  }

  data(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    if (this.#received === 0) this.#begin();
    this.#received += chunk.length;
    if (this.#received === this.#announced) {
      this.#last = chunk;
      return true;
    }
    return this.#recipient.raw.write(chunk);
  }

  end(): void {
    const { raw } = this.#recipient;
    if (this.#received === 0) this.#begin();
    this.#recipient.complete(this.#answer.statusCode, this.reading() ?? NO_USAGE, () => raw.end(this.#last));
  }

  error(error: Error): void {
    this.#recipient.broken(error, this.#answer.statusCode, this.reading());
  }

  #begin(): void {
    const recipient = this.#recipient;
    const { raw, exchange, call } = recipient;
    recipient.hijack();
    const { usage } = this.#read();
    raw.writeHead(
      this.#answer.statusCode,
      recipient.clientHeaders(this.#answer, {
        ...(this.#announced === undefined ? {} : { 'content-length': this.#announced }),
        ...(usage ? { 'x-tollgate-charge': creditsString(chargeOf(call, usage)) } : {}),
      }),
    );
    raw.on('drain', () => exchange.resume());
  }

  #read(): Reading {
    const { call, countTokens } = this.#recipient;
    const { meter } = call.endpoint;
    return {
      usage: meter.usage(undefined, call.body),
      estimate: async () => {
        const estimate = await meter.estimate(call.body, '', countTokens, call.storedTokens);
        return meter.mergeReported?.(estimate, undefined, call.body) ?? estimate;
      },
    };
  }
}
