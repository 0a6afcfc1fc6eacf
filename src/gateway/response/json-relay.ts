import { GatewayError } from '../../domain/errors.ts';
import type { Usage } from '../../domain/units.ts';
import { errorIn, type Form, hasAnswer, isPage, parseAnswer, saysFailed } from '../../metering/answer.ts';
import { JsonSieve } from '../../metering/json/sieve.ts';
import { ANSWER_SHAPE } from '../../metering/meter.ts';
import { tokensIn } from '../../metering/text-tokens.ts';
import { isAbove0, reportIn } from '../../metering/usage-report.ts';
import { shownError } from '../upstream/credential.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { ClientResponse } from './client-response.ts';
import { type CallError, callError, NO_WORDS } from './provider-error.ts';
import type { Reading, Relay } from './reading.ts';
import { estimated, hiddenTokens, termsOfEstimate, unreported } from './unreported.ts';

/**
 * Maximum bytes of an answer that is buffered until it is settled and has `x-tollgate-charge` (specification section 4).
 */
const MAX_HELD_BYTES = 1024 * 1024;
/** Maximum bytes buffered once the client has left; beyond it, only metered members are kept. */
const MAX_HELD_LEFT_BYTES = 64 * 1024;
/** Maximum bytes written as a string, which Node joins with the head into one write. */
const MAX_TEXT_BYTES = 16 * 1024;
/** Rough size of a token in bytes, used only for an answer that is large or not whole, and reports no usage. */
const BYTES_PER_TOKEN = 4;

/**
 * Relay for an answer that is not a stream: JSON, the text of a transcript, a page in its place. A small one is held
 * whole until its settle is on the wire to Redis, so that one that says that the call failed can go to another target;
 * of a large one, or if memory is short, the parts are forwarded as they come, and only the last part is held back until
 * then. Once the client has left, the answer is only read.
 */
export class JsonRelay implements AnswerSink, Relay {
  readonly #response: ClientResponse;
  readonly #answer: UpstreamAnswer;
  readonly #status: number;
  readonly #form: Form;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Time of the first byte, by `performance.now()`. */
  #visibleAt: number | undefined;
  /**
   * Extractor of the members that meters read, so that a large answer need not be stored; set once one is forwarded.
   */
  #sieve: JsonSieve | undefined;

  constructor(response: ClientResponse, answer: UpstreamAnswer, form: Form) {
    this.#response = response;
    this.#answer = answer;
    this.#status = answer.statusCode;
    this.#form = form;
  }

  reading(): Reading | undefined {
    if (this.#length === 0 || this.#status >= 300) return undefined;
    const { call } = this.#response;
    const hidden = hiddenTokens(this.#response, this.#visibleAt);
    const answer = this.#sieve?.value ?? projected(Buffer.concat(this.#chunks));
    const reported: Omit<Reading, 'estimate'> =
      reportIn(answer) === undefined ? { usage: undefined } : this.#reported(answer);
    const terms = reported.usage ? reported.terms : termsOfEstimate(reported.terms);
    return {
      ...reported,
      terms,
      estimate: () => {
        const counted = this.#estimateByBytes(answer, call.quote.mediaTokens);
        return unreported(this.#response, { counted, merged: counted, hidden, terms });
      },
    };
  }

  data(chunk: Buffer): boolean {
    this.#visibleAt ??= performance.now();
    this.#length += chunk.length;
    if (this.#sieve) return this.#passOn(chunk, this.#sieve);
    this.#chunks.push(chunk);
    const { hasLeft, call } = this.#response;
    const mostHeld = hasLeft ? MAX_HELD_LEFT_BYTES : MAX_HELD_BYTES;
    const isHeld = this.#length <= mostHeld && call.memory.holdAnswer(this.#length);
    return isHeld || this.#startPassing();
  }

  end(): void {
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const parsed = this.#sieve ? this.#sieve.value : parseAnswer(whole.toString('utf8'));
    // Brackets that close around what can't be read are an answer; its usage may be readable.
    const isUnread = parsed === null && this.#form === 'json';
    const answer = isUnread ? (projected(whole) ?? {}) : parsed;
    // Without a Content-Length, a broken connection looks like a regular end.
    const isWhole = this.#sieve ? this.#sieve.isWhole : answer !== undefined;
    if (this.#status < 300 && this.#form === 'json' && !isWhole) {
      this.#broke(new Error('the answer is not whole'));
      return;
    }
    if (this.#status >= 300) {
      const { upstream } = this.#response.call.facts.model;
      this.#finish(whole, { status: this.#status, error: callError(errorIn(answer), upstream) });
      return;
    }
    const reading = this.#readWhole(answer, whole, isUnread);
    const { meter, makesJob } = this.#response.call.endpoint;
    // A job that failed at once is a job all the same, which its owner may read.
    const isFailedJob = reading.failed && makesJob && meter.hasAnswer?.(answer);
    if (reading.failed && !isFailedJob) {
      this.#failed(whole, answer, reading);
      return;
    }
    this.#finish(whole, {
      status: this.#status,
      reading: isFailedJob ? { ...reading, free: true } : reading,
    });
  }

  /** The answer says that the call failed: the next target's turn, or the client gets its bytes. */
  #failed(whole: Buffer, answer: unknown, reading: Reading): void {
    const { facts } = this.#response.call;
    const { upstream } = facts.model;
    const error = callError(errorIn(answer), upstream);
    const message = error?.message || NO_WORDS;
    // What was shown may be charged by estimate.
    const asReported = { ...reading, estimate: () => this.#merged({}, answer) };
    const charged = this.#sieve ? reading : isReported(answer) ? asReported : undefined;
    const show = () => {
      const isWithinEvents = this.#response.raw.headersSent && facts.isStream;
      if (whole.length === 0 || isWithinEvents)
        this.#response.fail(new GatewayError('upstream_unavailable', message), 'upstream_error', charged);
      else this.#finish(this.#withoutCredential(whole), { status: 502, reading: charged, error });
    };
    if (this.#sieve) show();
    else this.#response.failedUnshown(message, charged?.usage, show);
  }

  /** Settles, and then answers with `body`, or its rest; `status` is shown unless the head is. */
  #finish(body: Buffer, { status, reading, error }: Ended): void {
    const response = this.#response;
    const { raw } = response;
    const finish = (charge: string) => {
      if (response.hasLeft) return;
      if (raw.headersSent) {
        raw.end(body);
        return;
      }
      response.hijack();
      const own = reading ? { 'x-tollgate-charge': charge } : {};
      const answer = { ...this.#answer, statusCode: status };
      raw.writeHead(status, response.clientHeaders(answer, { ...own, 'content-length': body.length }));
      // Latin-1 keeps every byte as it is.
      if (body.length < MAX_TEXT_BYTES) raw.end(body.toString('latin1'), 'latin1');
      else raw.end(body);
    };
    response.complete(raw.headersSent ? this.#status : status, reading, finish, error);
  }

  error(error: Error): void {
    // After a whole value, nothing is missing.
    if (this.#isWhole()) this.end();
    else this.#broke(error);
  }

  #broke(error: Error): void {
    if (this.#sieve) this.#response.broken(error, this.#status, this.reading());
    else this.#response.brokenUnshown(error, this.#status, () => this.reading());
  }

  #isWhole(): boolean {
    if (this.#form !== 'json' || this.#status >= 300) return false;
    if (this.#sieve) return this.#sieve.isWhole;
    return parseAnswer(Buffer.concat(this.#chunks).toString('utf8')) !== undefined;
  }

  /** The body of an error that was answered as a success. */
  #withoutCredential(body: Buffer): Buffer {
    const { upstream } = this.#response.call.facts.model;
    // Of a large answer, the length and most parts have gone out already.
    return this.#sieve ? body : Buffer.from(shownError(body.toString('latin1'), upstream), 'latin1');
  }

  #startPassing(): boolean {
    const sieve = new JsonSieve(ANSWER_SHAPE);
    this.#sieve = sieve;
    this.#response.begins();
    if (!this.#response.hasLeft) this.#writeHead();
    const held = this.#chunks;
    this.#chunks = [];
    let flowing = true;
    for (const chunk of held) flowing = this.#passOn(chunk, sieve);
    return flowing;
  }

  #writeHead(): void {
    const { raw } = this.#response;
    raw.on('drain', () => this.#response.resume());
    if (raw.headersSent) return;
    this.#response.hijack();
    const length = this.#answer.headers['content-length'];
    const own = typeof length === 'string' ? { 'content-length': length } : {};
    raw.writeHead(this.#status, this.#response.clientHeaders(this.#answer, own));
  }

  /** Writes the chunk before and holds this one, which may be the last: that waits until the settle is on the wire. */
  #passOn(chunk: Buffer, sieve: JsonSieve): boolean {
    sieve.push(chunk.toString('latin1'));
    if (this.#response.hasLeft) return true;
    const previous = this.#chunks.pop();
    this.#chunks.push(chunk);
    return previous ? this.#response.raw.write(previous) : true;
  }

  /** Reading of a whole answer. One that was held, and has neither a report nor any part of an answer, failed. */
  #readWhole(answer: unknown, body: Buffer, isUnread: boolean): Reading {
    const { call } = this.#response;
    const { meter } = call.endpoint;
    const isText = meter.answersText?.(call.facts) === true;
    const reported = this.#reported(answer);
    const has = isText
      ? this.#status !== 204 && !isPage(body.toString('latin1'))
      : (meter.hasAnswer ?? hasAnswer)(answer);
    const isPartial = isUnread || this.#sieve !== undefined;
    const isEmpty = !isPartial && !has && !isReported(answer);
    return {
      ...reported,
      ...(isEmpty ? { failed: true } : {}),
      estimate: isPartial
        ? () => this.#estimateByBytes(answer)
        : () => {
            const output = isText ? tokensIn(body.toString('utf8')) : meter.outputTokens(answer);
            const counted = estimated(call, output);
            // Of a whole report an estimate is made only if no account could pay it.
            return reported.usage ? counted : this.#merged(counted, answer);
          },
    };
  }

  /** What the answer reports. */
  #reported(answer: unknown): Omit<Reading, 'estimate'> {
    const { facts, endpoint } = this.#response.call;
    const { meter } = endpoint;
    const failed = saysFailed(answer) || meter.failed?.(answer);
    const resourceIds = meter.resourceIds?.(answer, facts);
    return {
      usage: meter.usage(answer, facts),
      terms: meter.terms?.(answer, facts),
      isEstimated: meter.isEstimated?.(answer),
      ...(failed ? { failed } : {}),
      ...(resourceIds ? { resourceIds } : {}),
    };
  }

  /** The estimate, corrected by whatever the answer does report. */
  #merged(estimate: Usage, answer: unknown): Usage {
    const { endpoint, facts } = this.#response.call;
    return endpoint.meter.mergeReported?.(estimate, answer, facts) ?? estimate;
  }

  /**
   * Estimates an answer of which only metered members were kept. All bytes of a text model count as output; pictures are
   * not text.
   */
  #estimateByBytes(answer: unknown, mediaTokens?: number): Usage {
    const { call } = this.#response;
    const usage = this.#merged(estimated(call, 0, mediaTokens), answer);
    const isText = call.endpoint.category === 'text' && usage.output !== undefined;
    return isText ? { ...usage, output: Math.ceil(this.#length / BYTES_PER_TOKEN) } : usage;
  }
}

/** The metered members of an answer that is not whole, or that no parser reads; undefined if there are none. */
function projected(bytes: Buffer): unknown {
  const sieve = new JsonSieve(ANSWER_SHAPE);
  sieve.push(bytes.toString('latin1'));
  return sieve.value;
}

function isReported(answer: unknown): boolean {
  const report = reportIn(answer);
  return report !== undefined && isAbove0(report.counts);
}

/** How an answer ended; without a `reading` nothing is charged. */
interface Ended {
  readonly status: number;
  readonly reading?: Reading | undefined;
  readonly error?: CallError | undefined;
}
