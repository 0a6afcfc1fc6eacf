import type { Usage } from '../../domain/units.ts';
import { JsonSieve } from '../../metering/json/sieve.ts';
import { ANSWER_SHAPE } from '../../metering/meter.ts';
import { tokensIn } from '../../metering/text-tokens.ts';
import { reportedBy } from '../../metering/usage.ts';
import { shownError } from '../upstream/credential.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { providerError } from './provider-error.ts';
import type { Reading, Recipient, Relay } from './recipient.ts';
import { estimated, hiddenTokens, termsOfEstimate, unreported } from './unreported.ts';

/**
 * Bytes of the largest answer that is held until it is settled and carries `x-tollgate-charge` (specification section
 * 4).
 */
const HELD_MAX_BYTES = 1024 * 1024;
/** Bytes of the largest answer that is held after the client has left; of a larger one only what meters read is kept. */
const HELD_LEFT_MAX_BYTES = 64 * 1024;
/** Bytes of the largest answer that is written as a string, which Node joins with the head into one write. */
const TEXT_MAX_BYTES = 16 * 1024;
/** Rough size of a token in bytes, used only for an answer that is large or not whole, and reports no usage. */
const BYTES_PER_TOKEN = 4;

/**
 * Relay for an answer that is not a stream. A small one is held whole until its settle is on the wire to Redis; of a
 * large one, or if memory is short, the parts are forwarded as they come, and only the last part is held back until
 * then. Once the client has left, the answer is only read.
 */
export class JsonRelay implements AnswerSink, Relay {
  readonly #recipient: Recipient;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Time of the first byte, by `performance.now()`. */
  #visibleAt: number | undefined;
  /** Value of an answer that was held whole; undefined if it is not JSON. */
  #json: unknown;
  /**
   * Extractor of the members that meters read, so that a large answer need not be stored; set once one is forwarded.
   */
  #sieve: JsonSieve | undefined;

  constructor(recipient: Recipient, answer: UpstreamAnswer) {
    this.#recipient = recipient;
    this.#answer = answer;
    this.#status = answer.statusCode;
  }

  reading(): Reading | undefined {
    if (this.#length === 0 || this.#status >= 300) return undefined;
    const { call } = this.#recipient;
    const hidden = hiddenTokens(this.#recipient, this.#visibleAt);
    const answer = this.#sieve?.value;
    const reported: Omit<Reading, 'estimate'> =
      reportedBy(answer) === undefined ? { usage: undefined } : this.#reported(answer);
    const terms = reported.usage ? reported.terms : termsOfEstimate(reported.terms);
    return {
      ...reported,
      terms,
      estimate: () => {
        const counted = this.#estimateByBytes(call.mediaTokens);
        return unreported(this.#recipient, { counted, merged: counted, hidden, terms });
      },
    };
  }

  data(chunk: Buffer): boolean {
    this.#visibleAt ??= performance.now();
    this.#length += chunk.length;
    if (this.#sieve) return this.#passOn(chunk, this.#sieve);
    this.#chunks.push(chunk);
    const { hasLeft, call } = this.#recipient;
    const mostHeld = hasLeft ? HELD_LEFT_MAX_BYTES : HELD_MAX_BYTES;
    const isHeld = this.#length <= mostHeld && call.memory.holdAnswer(this.#length);
    return isHeld || this.#startPassing();
  }

  end(): void {
    const { raw } = this.#recipient;
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (!this.#sieve) this.#json = parse(whole);
    if (this.#isCutOff()) {
      this.#recipient.broken(new Error('the answer is not whole'), this.#status, this.reading());
      return;
    }
    const reading = this.#readWhole(whole);
    const isError = this.#status >= 400 || reading.failed;
    const error = isError ? providerError(this.#json, this.#recipient.call.body.model.upstream) : undefined;
    // The answer may wait for its client for long.
    this.#json = undefined;
    const body = reading.failed ? this.#withoutCredential(whole) : whole;
    const finish = (charge: string) => {
      if (this.#recipient.hasLeft) return;
      if (this.#sieve) {
        raw.end(body);
        return;
      }
      this.#recipient.hijack();
      const own = this.#status < 400 ? { 'x-tollgate-charge': charge } : {};
      raw.writeHead(
        this.#status,
        this.#recipient.clientHeaders(this.#answer, { ...own, 'content-length': body.length }),
      );
      // Latin-1 keeps every byte as it is.
      if (body.length < TEXT_MAX_BYTES) raw.end(body.toString('latin1'), 'latin1');
      else raw.end(body);
    };
    this.#recipient.complete(this.#status, reading, finish, error);
  }

  error(error: Error): void {
    this.#recipient.broken(error, this.#status, this.reading());
  }

  /** True if the JSON is incomplete: without a Content-Length, a broken connection looks like a regular end. */
  #isCutOff(): boolean {
    if (this.#status >= 300 || !/\bjson\b/i.test(String(this.#answer.headers['content-type']))) return false;
    return this.#sieve ? !this.#sieve.isWhole : this.#json === undefined;
  }

  /** The body of an error that was answered as a success. */
  #withoutCredential(body: Buffer): Buffer {
    const { upstream } = this.#recipient.call.body.model;
    // Of a large answer, the length and most parts have gone out already.
    return this.#sieve ? body : Buffer.from(shownError(body.toString('latin1'), upstream), 'latin1');
  }

  #startPassing(): boolean {
    const sieve = new JsonSieve(ANSWER_SHAPE);
    this.#sieve = sieve;
    if (!this.#recipient.hasLeft) this.#writeHead();
    const held = this.#chunks;
    this.#chunks = [];
    let flowing = true;
    for (const chunk of held) flowing = this.#passOn(chunk, sieve);
    return flowing;
  }

  #writeHead(): void {
    const { raw, exchange } = this.#recipient;
    this.#recipient.hijack();
    const length = this.#answer.headers['content-length'];
    const own = typeof length === 'string' ? { 'content-length': length } : {};
    raw.writeHead(this.#status, this.#recipient.clientHeaders(this.#answer, own));
    raw.on('drain', () => exchange.resume());
  }

  /** Writes the chunk before and holds this one, which may be the last: that waits until the settle is on the wire. */
  #passOn(chunk: Buffer, sieve: JsonSieve): boolean {
    sieve.push(chunk.toString('latin1'));
    if (this.#recipient.hasLeft) return true;
    const previous = this.#chunks.pop();
    this.#chunks.push(chunk);
    return previous ? this.#recipient.raw.write(previous) : true;
  }

  /** Reading of a whole answer. One that was held, reports a failure and has no output is free. */
  #readWhole(body: Buffer): Reading {
    const { call } = this.#recipient;
    const { meter } = call.endpoint;
    const answer = this.#sieve ? this.#sieve.value : this.#json;
    const reading = {
      ...this.#reported(answer),
      estimate: this.#sieve
        ? () => this.#estimateByBytes()
        : () => {
            const isText = meter.answersText?.(call.body);
            const output = isText ? tokensIn(body.toString('utf8')) : meter.outputTokens(answer);
            return this.#merged(estimated(call, output), answer);
          },
    };
    if (!reading.failed || reading.usage || this.#sieve) return reading;
    return { ...reading, free: meter.outputTokens(answer) === 0 };
  }

  /** What the answer reports. */
  #reported(answer: unknown): Omit<Reading, 'estimate'> {
    const { body, endpoint } = this.#recipient.call;
    const { meter } = endpoint;
    const failed = meter.failed?.(answer);
    const resourceIds = meter.resourceIds?.(answer, body);
    return {
      usage: meter.usage(answer, body),
      terms: meter.terms?.(answer, body),
      isEstimated: meter.isEstimated?.(answer),
      ...(failed ? { failed } : {}),
      ...(resourceIds ? { resourceIds } : {}),
    };
  }

  /** The estimate, corrected by whatever the answer does report. */
  #merged(estimate: Usage, answer: unknown): Usage {
    const { endpoint, body } = this.#recipient.call;
    return endpoint.meter.mergeReported?.(estimate, answer, body) ?? estimate;
  }

  /**
   * The estimate for an answer that is not at hand whole. For a text model all bytes count as output; pictures are not
   * text.
   */
  #estimateByBytes(mediaTokens?: number): Usage {
    const { call } = this.#recipient;
    const usage = this.#merged(estimated(call, 0, mediaTokens), this.#sieve?.value);
    const isText = call.endpoint.category === 'text' && usage.output !== undefined;
    return isText ? { ...usage, output: Math.ceil(this.#length / BYTES_PER_TOKEN) } : usage;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
