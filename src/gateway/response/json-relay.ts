import type { Usage } from '../../domain/ledger-entry.ts';
import { ANSWER_SHAPE } from '../../metering/answer-shape.ts';
import { JsonSieve } from '../../metering/json-sieve.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { LeftBehind, Reading, Recipient } from './recipient.ts';

/** Answers up to this size are held until they are settled, and carry `x-tollgate-charge` (contract section 3). */
const HELD_MAX_BYTES = 1024 * 1024;
/** Copied into the string of its head, an answer is one write; larger ones are not worth the copy. */
const TEXT_MAX_BYTES = 16 * 1024;
/** Bytes of text that make a token, about; only for a larger answer that reports nothing. */
const BYTES_PER_TOKEN = 4;

/** Passes on an answer that is no stream: whole if it is small, else as it comes with its last part held back. */
export class JsonRelay implements AnswerSink {
  readonly #recipient: Recipient;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #isWhole = false;
  /** A whole answer that was held; undefined where it is no JSON. */
  #json: unknown;
  /** Set once the answer is passed on as it comes: of a large one only what meters look for is kept. */
  #sieve: JsonSieve | undefined;
  /** The client left, and nothing is written any more. */
  #left: Reading | undefined;

  constructor(recipient: Recipient, answer: UpstreamAnswer) {
    this.#recipient = recipient;
    this.#answer = answer;
    this.#status = answer.statusCode;
  }

  /** Undefined while the client has not been sent anything: then nothing is charged. */
  reading(): Reading | undefined {
    return this.#sieve || this.#isWhole ? this.#read() : undefined;
  }

  /**
   * An answer that is no stream was made before it was sent, so that its provider bills all of it, and its usage mostly
   * stands at its end.
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
      // Latin-1: byte for byte.
      if (body.length < TEXT_MAX_BYTES) raw.end(body.toString('latin1'), 'latin1');
      else raw.end(body);
    });
  }

  error(error: Error): void {
    if (this.#left) this.#recipient.settleLeft(this.#left);
    else this.#recipient.broken(error, this.#status, this.#sieve ? this.#read() : undefined);
  }

  /** A connection that ends the answer by its own end breaks off just so; JSON that is not whole tells. */
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

  /** Writes the chunk before this one: the last is held back until the settle is on the wire. */
  #passOn(chunk: Buffer, sieve: JsonSieve): boolean {
    sieve.push(chunk.toString('latin1'));
    const previous = this.#chunks.pop();
    this.#chunks.push(chunk);
    return previous ? this.#recipient.raw.write(previous) : true;
  }

  /** An answer that says that the call failed before the model wrote anything costs nothing. */
  #readWhole(): Reading {
    const reading = this.#read();
    if (!reading.failed || reading.usage || this.#sieve) return reading;
    const written = this.#recipient.call.endpoint.meter.written(this.#json);
    return { ...reading, free: written === '' };
  }

  #read(): Reading {
    const { call, countTokens } = this.#recipient;
    const { meter } = call.endpoint;
    const answer = this.#sieve ? this.#sieve.value : this.#json;
    const failed = meter.failed?.(answer);
    const resourceIds = meter.resourceIds?.(answer);
    return {
      usage: meter.usage(answer, call.body),
      estimate: this.#sieve
        ? () => this.#estimateLarge(this.#length)
        : () => meter.estimate(call.body, meter.written(answer), countTokens, call.storedTokens),
      ...(failed ? { failed } : {}),
      ...(resourceIds ? { resourceIds } : {}),
    };
  }

  /** Of a text model, all that came counts as written; pictures are not text. */
  async #estimateLarge(length: number): Promise<Usage> {
    const { call, countTokens } = this.#recipient;
    const usage = await call.endpoint.meter.estimate(call.body, '', countTokens, call.storedTokens);
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
