import type { Delivery, Reading } from './delivery.ts';
import { MemberScanner } from './meter/member-scanner.ts';
import type { AnswerSink, UpstreamAnswer } from './upstream-transport.ts';

/** Answers up to this size are held until they are settled, and carry `x-tollgate-charge` (contract section 3). */
const HELD_MAX_BYTES = 1024 * 1024;
/** Copied into the string of its head, an answer is one write; larger ones are not worth the copy. */
const TEXT_MAX_BYTES = 16 * 1024;
/** Of larger ones the beginning is kept, where the id stands. */
const HEAD_BYTES = 4 * 1024;
const FIRST_ID = /"id"\s*:\s*"([^"\\]*)"/;
/** Of the sound of a chat answer, which makes it large. */
const SOUND_ID = /"audio"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]*)"/;
/** Bytes of text that make a token, about; only for a larger answer that reports nothing. */
const BYTES_PER_TOKEN = 4;

/** Passes on an answer that is no stream: whole if it is small, else as it comes with its last part held back. */
export class JsonRelay implements AnswerSink {
  readonly #delivery: Delivery;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #isWhole = false;
  #head = '';
  /** A whole answer that was held; undefined where it is no JSON. */
  #json: unknown;
  /** Set once the answer is passed on as it comes: of a large one only its usage and the members of `data` are kept. */
  #scanner: MemberScanner | undefined;

  constructor(delivery: Delivery, answer: UpstreamAnswer) {
    this.#delivery = delivery;
    this.#answer = answer;
    this.#status = answer.statusCode;
  }

  /** Undefined while the client has not been sent anything: then nothing is charged. */
  reading(): Reading | undefined {
    return this.#scanner || this.#isWhole ? this.#read() : undefined;
  }

  data(chunk: Buffer): boolean {
    this.#length += chunk.length;
    if (this.#scanner) return this.#passOn(chunk, this.#scanner);
    this.#chunks.push(chunk);
    return this.#length > HELD_MAX_BYTES ? this.#startPassing() : true;
  }

  end(): void {
    this.#isWhole = true;
    const { raw } = this.#delivery;
    const body = Buffer.concat(this.#chunks);
    this.#chunks = [body];
    if (!this.#scanner) this.#json = parse(body);
    if (this.#isCutOff()) {
      this.#isWhole = false;
      this.#delivery.broken(new Error('the answer is not whole'), this.#status, this.reading());
      return;
    }
    const reading = this.#readWhole();
    this.#delivery.complete(this.#status, reading, (charge) => {
      if (this.#scanner) {
        raw.end(body);
        return;
      }
      this.#delivery.hijack();
      const own = this.#status < 400 ? { 'x-tollgate-charge': charge } : {};
      raw.writeHead(
        this.#status,
        this.#delivery.clientHeaders(this.#answer, { ...own, 'content-length': body.length }),
      );
      // Latin-1: byte for byte.
      if (body.length < TEXT_MAX_BYTES) raw.end(body.toString('latin1'), 'latin1');
      else raw.end(body);
    });
  }

  error(error: Error): void {
    this.#delivery.broken(error, this.#status, this.#scanner ? this.#read() : undefined);
  }

  /** A connection that ends the answer by its own end breaks off just so; JSON that is not whole tells. */
  #isCutOff(): boolean {
    if (this.#status >= 300 || !/\bjson\b/i.test(String(this.#answer.headers['content-type']))) return false;
    return this.#scanner ? !this.#scanner.isWhole : this.#json === undefined;
  }

  #startPassing(): boolean {
    const scanner = new MemberScanner(['usage'], 'data');
    this.#scanner = scanner;
    this.#head = Buffer.concat(this.#chunks).toString('latin1', 0, HEAD_BYTES);
    const { raw, exchange } = this.#delivery;
    this.#delivery.hijack();
    const length = this.#answer.headers['content-length'];
    const own = typeof length === 'string' ? { 'content-length': length } : {};
    raw.writeHead(this.#status, this.#delivery.clientHeaders(this.#answer, own));
    raw.on('drain', () => exchange.resume());
    const held = this.#chunks;
    this.#chunks = [];
    let flowing = true;
    for (const chunk of held) flowing = this.#passOn(chunk, scanner);
    return flowing;
  }

  /** Writes the chunk before this one: the last is held back until the settle is on the wire. */
  #passOn(chunk: Buffer, scanner: MemberScanner): boolean {
    scanner.push(chunk);
    const previous = this.#chunks.pop();
    this.#chunks.push(chunk);
    return previous ? this.#delivery.raw.write(previous) : true;
  }

  /** An answer that says that the call failed before the model wrote anything costs nothing. */
  #readWhole(): Reading {
    const reading = this.#read();
    if (!reading.failed || reading.usage) return reading;
    const written = this.#delivery.call.endpoint.meter.written(this.#json);
    return { ...reading, free: written === '' };
  }

  #read(): Reading {
    const { call, countTokens } = this.#delivery;
    const { meter } = call.endpoint;
    if (this.#scanner) {
      const audio = { id: SOUND_ID.exec(this.#head)?.[1] };
      const made = meter.made?.({ id: FIRST_ID.exec(this.#head)?.[1], choices: [{ message: { audio } }] });
      const passed = { usage: this.#scanner.value('usage'), data: new Array(this.#scanner.count) };
      return {
        ...(made ? { made } : {}),
        usage: meter.usage(passed, call.body),
        estimate: async () => {
          const usage = await meter.estimate(call.body, '', countTokens, call.storedTokens);
          // Of a text model, all that came counts as written; pictures are not text.
          const isText = call.endpoint.category === 'text' && usage.output !== undefined;
          return isText ? { ...usage, output: Math.ceil(this.#length / BYTES_PER_TOKEN) } : usage;
        },
      };
    }
    const answer = this.#json;
    const failed = meter.failed?.(answer);
    const made = meter.made?.(answer);
    return {
      usage: meter.usage(answer, call.body),
      estimate: () => meter.estimate(call.body, meter.written(answer), countTokens, call.storedTokens),
      ...(failed ? { failed } : {}),
      ...(made ? { made } : {}),
    };
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
