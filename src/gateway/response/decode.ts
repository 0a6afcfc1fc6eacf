import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { Recipient } from './recipient.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Whether an answer comes as it is, or what decodes it; undefined: nothing here does. */
export function decoderOf({ headers }: Pick<UpstreamAnswer, 'headers'>): Transform | 'none' | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '') return 'none';
  return Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
}

/** The head of an answer whose body is passed on decoded. */
export function decodedHead<Answer extends Pick<UpstreamAnswer, 'headers'>>(answer: Answer): Answer {
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = answer.headers;
  return { ...answer, headers };
}

/**
 * Stands between an upstream that compresses, although the gateway asks it not to, and the relay, which must read the
 * answer to charge it. Decoded as it comes, with back-pressure on both sides, so that no small answer can unfold to more
 * than a buffer or two. The client gets it decoded too: it was not asked what it can decode.
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
    // What is read on for its usage alone no longer waits for the client.
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
    // What has come is passed on first, unless that must wait for the client.
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
