import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { CallBody } from '../request/call-body.ts';
import type { Recipient } from '../response/recipient.ts';
import type { AnswerSink, UpstreamAnswer } from './exchange.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Decoder for an answer's content encoding; 'none' without encoding, undefined for an unknown one. */
export function decoderOf({ headers }: Pick<UpstreamAnswer, 'headers'>): Transform | 'none' | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '') return 'none';
  return Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
}

/** Removes headers that describe the encoded form. */
export function decodedHead<Answer extends Pick<UpstreamAnswer, 'headers'>>(answer: Answer): Answer {
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = answer.headers;
  return { ...answer, headers };
}

/**
 * Whether an answer is an event stream. Some providers send no Content-Type, or text/plain. Relayed as a plain answer,
 * such a stream would be held back to its end.
 */
export function isEventStream(
  { statusCode, headers }: Pick<UpstreamAnswer, 'statusCode' | 'headers'>,
  { isStream, kind }: Pick<CallBody, 'isStream' | 'kind'>,
): boolean {
  if (statusCode >= 300) return false;
  const type = headers['content-type'];
  if (type === undefined) return isStream && kind === 'json';
  if (/^text\/event-stream/i.test(String(type))) return true;
  return isStream && kind === 'json' && /^text\/plain\b/i.test(String(type));
}

/**
 * Decodes answers of upstreams that compress although the gateway asks for identity: the relay must read the answer to
 * charge it. Decoding is incremental, with back-pressure on both sides, so a small answer can't expand to more than a
 * buffer or two in memory. The client gets the decoded form, because its accepted encodings were not sent upstream.
 */
export class DecodingSink implements AnswerSink {
  readonly #decoder: Transform;
  readonly #sink: AnswerSink;
  #isEmpty = true;
  #isOver = false;

  constructor(decoder: Transform, sink: AnswerSink, { raw, exchange }: Recipient) {
    this.#decoder = decoder;
    this.#sink = sink;
    decoder.on('data', (part: Buffer) => {
      if (!this.#isOver && !sink.data(part)) decoder.pause();
    });
    decoder.on('end', () => this.#finish(() => sink.end()));
    decoder.on('error', (error) => {
      this.#finish(() => sink.error(error));
      exchange.cancel(error);
    });
    decoder.on('drain', () => exchange.resume());
    raw.on('drain', () => decoder.resume());
    // After the client has left, its back-pressure must not stop reading for the usage.
    raw.once('close', () => decoder.resume());
  }

  data(chunk: Buffer): boolean {
    this.#isEmpty = false;
    return this.#decoder.write(chunk);
  }

  end(): void {
    if (this.#isEmpty) this.#finish(() => this.#sink.end());
    else this.#decoder.end();
  }

  error(error: Error): void {
    const finish = () => this.#finish(() => this.#sink.error(error));
    // Deliver received data first, unless the client's back-pressure holds it up.
    if (this.#decoder.isPaused()) finish();
    else this.#decoder.write(Buffer.alloc(0), finish);
  }

  #finish(end: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    end();
    this.#decoder.destroy();
  }
}
