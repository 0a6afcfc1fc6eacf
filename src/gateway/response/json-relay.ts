import type { Usage } from '../../domain/usage.ts';
import { JsonSieve } from '../../metering/json-sieve.ts';
import { ANSWER_SHAPE } from '../../metering/meter.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { LeftBehind, Reading, Recipient } from './recipient.ts';

/**
 * Bytes of the largest answer that is held until it is settled and carries `x-tollgate-charge` (specification section
 * 4).
 */
const HELD_MAX_BYTES = 1024 * 1024;
/** Bytes of the largest answer that is written as a string, which Node joins with the head into one write. */
const TEXT_MAX_BYTES = 16 * 1024;
/** Rough size of a token in bytes, used only for a large answer that reports no usage. */
const BYTES_PER_TOKEN = 4;

/**
 * Relay for an answer that is not a stream. A small one is held whole until its settle is on the wire to Redis; of a
 * large one the parts are forwarded as they come, and only the last part is held back until then.
 */
export class JsonRelay implements AnswerSink {
  readonly #recipient: Recipient;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #isWhole = false;
  /** Value of an answer that was held whole; undefined where it is not JSON. */
  #json: unknown;
  /**
   * Extractor of the members that meters read, so that a large answer need not be stored; set once one is forwarded.
   */
  #sieve: JsonSieve | undefined;
  /** Reading at the moment when the client left; from then on nothing is written. */
  #left: Reading | undefined;

  constructor(recipient: Recipient, answer: UpstreamAnswer) {
    this.#recipient = recipient;
    this.#answer = answer;
    this.#status = answer.statusCode;
  }

  /** The usage so far; undefined while nothing was sent to the client, because nothing is charged then. */
  reading(): Reading | undefined {
    return this.#sieve || this.#isWhole ? this.#read() : undefined;
  }

  /**
   * The answer that goes on after the client has left. A provider completes an answer that is not a stream before it
   * sends it, and so bills all of it; the usage is mostly at its end.
   */
  left(): LeftBehind | undefined {
    if (!this.#sieve) return undefined;
    const length = this.#length;
    this.#left = { ...this.#read(), estimate: () => this.#estimateLarge(length) };
    this.#chunks = [];
    return { reading: this.#left, isClosing: true };
  }

  data(chunk: Buffer): boolean {
    this.#length += chunk.length;
    if (this.#left && this.#sieve) {
      this.#sieve.push(chunk.toString('latin1'));
      return true;
    }
    if (this.#sieve) return this.#passOn(chunk, this.#sieve);
    this.#chunks.push(chunk);
    return this.#length > HELD_MAX_BYTES ? this.#startPassing() : true;
  }

  end(): void {
    if (this.#left) {
      const reading = this.#read();
      this.#recipient.settleLeft(reading.usage ? reading : this.#left);
      return;
    }
    this.#isWhole = true;
    const { raw } = this.#recipient;
    const body = Buffer.concat(this.#chunks);
    this.#chunks = [body];
    if (!this.#sieve) this.#json = parse(body);
    if (this.#isCutOff()) {
      this.#isWhole = false;
      this.#recipient.broken(new Error('the answer is not whole'), this.#status, this.reading());
      return;
    }
    const reading = this.#readWhole();
    this.#recipient.complete(this.#status, reading, (charge) => {
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
    });
  }

  error(error: Error): void {
    if (this.#left) this.#recipient.settleLeft(this.#left);
    else this.#recipient.broken(error, this.#status, this.#sieve ? this.#read() : undefined);
  }

  /** True where the JSON is incomplete: without a Content-Length, a broken connection looks like a regular end. */
  #isCutOff(): boolean {
    if (this.#status >= 300 || !/\bjson\b/i.test(String(this.#answer.headers['content-type']))) return false;
    return this.#sieve ? !this.#sieve.isWhole : this.#json === undefined;
  }

  #startPassing(): boolean {
    const sieve = new JsonSieve(ANSWER_SHAPE);
    this.#sieve = sieve;
    const { raw, exchange } = this.#recipient;
    this.#recipient.hijack();
    const length = this.#answer.headers['content-length'];
    const own = typeof length === 'string' ? { 'content-length': length } : {};
    raw.writeHead(this.#status, this.#recipient.clientHeaders(this.#answer, own));
    raw.on('drain', () => exchange.resume());
    const held = this.#chunks;
    this.#chunks = [];
    let flowing = true;
    for (const chunk of held) flowing = this.#passOn(chunk, sieve);
    return flowing;
  }

  /** Writes the chunk before and holds this one, which may be the last: that waits until the settle is on the wire. */
  #passOn(chunk: Buffer, sieve: JsonSieve): boolean {
    sieve.push(chunk.toString('latin1'));
    const previous = this.#chunks.pop();
    this.#chunks.push(chunk);
    return previous ? this.#recipient.raw.write(previous) : true;
  }

  /** Reading of an answer that was held whole. One that reports a failure and has no output is free. */
  #readWhole(): Reading {
    const reading = this.#read();
    if (!reading.failed || reading.usage || this.#sieve) return reading;
    const outputText = this.#recipient.call.endpoint.meter.outputText(this.#json);
    return { ...reading, free: outputText === '' };
  }

  #read(): Reading {
    const { call, countTokens } = this.#recipient;
    const { meter } = call.endpoint;
    const answer = this.#sieve ? this.#sieve.value : this.#json;
    const failed = meter.failed?.(answer);
    const resourceIds = meter.resourceIds?.(answer);
    return {
      usage: meter.usage(answer, call.body),
      serviceTiers: meter.serviceTiers?.(answer, call.body),
      isEstimated: meter.isEstimated?.(answer),
      estimate: this.#sieve
        ? () => this.#estimateLarge(this.#length)
        : async () => {
            const text = meter.outputText(answer);
            return this.#merged(await meter.estimate(call.body, text, countTokens, call.storedTokens));
          },
      ...(failed ? { failed } : {}),
      ...(resourceIds ? { resourceIds } : {}),
    };
  }

  /** The estimate, corrected by whatever the answer does report. */
  #merged(estimate: Usage): Usage {
    const { meter } = this.#recipient.call.endpoint;
    const answer = this.#sieve ? this.#sieve.value : this.#json;
    return meter.mergeReported?.(estimate, answer, this.#recipient.call.body) ?? estimate;
  }

  /** The estimate for a large answer. For a text model all bytes count as output; pictures are not text. */
  async #estimateLarge(length: number): Promise<Usage> {
    const { call, countTokens } = this.#recipient;
    const usage = this.#merged(
      await call.endpoint.meter.estimate(call.body, '', countTokens, call.storedTokens),
    );
    const isText = call.endpoint.category === 'text' && usage.output !== undefined;
    return isText ? { ...usage, output: Math.ceil(length / BYTES_PER_TOKEN) } : usage;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
