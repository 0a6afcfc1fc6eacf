import { creditsString } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Usage } from '../../domain/units.ts';
import type { HeardAnswer, Meter } from '../../metering/meter.ts';
import { billOfCall } from '../settle.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { ClientResponse } from './client-response.ts';
import { NO_WORDS } from './provider-error.ts';
import type { Reading, Relay } from './reading.ts';
import { estimated, unreported } from './unreported.ts';

/**
 * Relay for a successful answer whose content the gateway does not read, such as speech. Each part is forwarded as it
 * arrives, with back-pressure, so that the client never waits for sound that has arrived. Only the end of the answer
 * waits for the settle: the part with the last byte if the length is known, else the end of the chunked encoding.
 *
 * If the text is priced, the price is known before the answer: the charge is announced in its head and does not depend
 * on whether the client receives it all, because the upstream produces and bills all of it. If the sound is priced, it
 * is counted as it passes. Once the client has left, the answer is only read.
 */
export class BytesRelay implements AnswerSink, Relay {
  readonly #response: ClientResponse;
  readonly #answer: UpstreamAnswer;
  /** Content-Length of the answer, in bytes; undefined if the answer is chunked. */
  readonly #announced: number | undefined;
  #received = 0;
  #last: Buffer | undefined;
  readonly #heard: HeardAnswer | undefined;

  constructor(response: ClientResponse, answer: UpstreamAnswer) {
    this.#response = response;
    this.#answer = answer;
    const length = answer.headers['content-length'];
    this.#announced = typeof length === 'string' ? Number(length) : undefined;
    this.#heard = response.call.endpoint.meter.heard?.(response.call.facts);
  }

  reading(): Reading | undefined {
    if (this.#received === 0) return undefined;
    const { meter } = this.#response.call.endpoint;
    const estimate = () => {
      const counted = this.#estimate(meter, false);
      return unreported(this.#response, { counted, merged: counted, hidden: 0 });
    };
    return { ...this.#known(), estimate };
  }

  data(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    if (this.#received === 0) this.#begin();
    this.#received += chunk.length;
    this.#heard?.push(chunk);
    if (this.#response.hasLeft) return true;
    if (this.#received === this.#announced) {
      this.#last = chunk;
      return true;
    }
    return this.#response.raw.write(chunk);
  }

  end(): void {
    const { raw } = this.#response;
    if (this.#received === 0) {
      this.#response.failedUnshown(NO_WORDS, undefined, () =>
        this.#response.fail(new GatewayError('upstream_unavailable', NO_WORDS), 'upstream_error'),
      );
      return;
    }
    this.#response.complete(this.#answer.statusCode, this.#read(), () => {
      if (!this.#response.hasLeft) raw.end(this.#last);
    });
  }

  error(error: Error): void {
    const { statusCode } = this.#answer;
    if (this.#received === 0) this.#response.brokenUnshown(error, statusCode, () => undefined);
    else this.#response.broken(error, statusCode, this.reading());
  }

  #begin(): void {
    const response = this.#response;
    const { raw, call } = response;
    response.begins();
    if (response.hasLeft) return;
    response.hijack();
    const { usage } = this.#known();
    raw.writeHead(
      this.#answer.statusCode,
      response.clientHeaders(
        this.#answer,
        {
          ...(this.#announced === undefined ? {} : { 'content-length': this.#announced }),
          ...(usage ? { 'x-tollgate-charge': creditsString(billOfCall(call, usage).charge) } : {}),
        },
        true,
      ),
    );
    raw.on('drain', () => response.resume());
  }

  #read(): Reading {
    const { meter } = this.#response.call.endpoint;
    return { ...this.#known(), estimate: () => this.#estimate(meter, true) };
  }

  #estimate(meter: Meter, isWhole: boolean): Usage {
    const { call } = this.#response;
    const estimate = estimated(call, 0);
    if (this.#heard) return this.#heard.correct(estimate, isWhole);
    return meter.mergeReported?.(estimate, undefined, call.facts) ?? estimate;
  }

  /** The usage as far as it is known without a report. */
  #known(): Pick<Reading, 'usage'> {
    const { endpoint, facts } = this.#response.call;
    return { usage: endpoint.meter.usage(undefined, facts) };
  }
}
