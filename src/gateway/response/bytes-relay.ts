import { creditsString } from '../../domain/credits.ts';
import { chargeOf } from '../settle.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { NO_USAGE, type Reading, type Recipient } from './recipient.ts';

/**
 * Passes on a good answer of which nothing needs to be read, such as speech: each part as it comes, with back-pressure.
 * Only what ends the answer waits for the settle: the part with its last byte where its length is known, else the end
 * of the chunked encoding. So nobody waits for sound that has already come.
 *
 * What the call costs is known before the answer is: the charge stands in its head, and is the same whether the
 * answer is heard to its end or not. The upstream makes, and bills, all of it once it has begun. Before the first byte
 * nothing is charged.
 */
export class BytesRelay implements AnswerSink {
  readonly #recipient: Recipient;
  readonly #answer: UpstreamAnswer;
  /** Bytes that the head announces; undefined: chunked. */
  readonly #announced: number | undefined;
  #received = 0;
  #last: Buffer | undefined;

  constructor(recipient: Recipient, answer: UpstreamAnswer) {
    this.#recipient = recipient;
    this.#answer = answer;
    const length = answer.headers['content-length'];
    this.#announced = typeof length === 'string' ? Number(length) : undefined;
  }

  /** Undefined before the first byte: then nothing is charged. */
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
      estimate: () => meter.estimate(call.body, '', countTokens, call.storedTokens),
    };
  }
}
