import type { AnswerSink } from '../upstream/exchange.ts';

/** Bounds of the buffer: a call does not wait longer for its next target. */
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_WITHIN_MS = 2_000;

/**
 * Buffers a provider's error until it is complete, exceeds 64 KiB or is 2 s old, then calls `decided` once, which
 * may call `passTo` later.
 */
export class HeldError implements AnswerSink {
  readonly #decided: (held: HeldError) => void;
  readonly #timer: NodeJS.Timeout;
  #chunks: Buffer[] = [];
  #length = 0;
  #isDecided = false;
  #ended: 'no' | 'end' | Error = 'no';
  #sink: AnswerSink | undefined;

  constructor(decided: (held: HeldError) => void) {
    this.#decided = decided;
    this.#timer = setTimeout(() => this.#decide(), ERROR_WITHIN_MS);
  }

  /** The bytes received so far, until they are passed on. */
  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Passes on the bytes received so far and all that follow. */
  passTo(sink: AnswerSink): void {
    this.#sink = sink;
    for (const chunk of this.#chunks) sink.data(chunk);
    this.#chunks = [];
    if (this.#ended === 'end') sink.end();
    else if (this.#ended !== 'no') sink.error(this.#ended);
  }

  data(chunk: Buffer): boolean {
    if (this.#sink) return this.#sink.data(chunk);
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > MAX_ERROR_BYTES) this.#decide();
    return true;
  }

  end(): void {
    this.#sink?.end();
    this.#ended = 'end';
    this.#decide();
  }

  error(error: Error): void {
    this.#sink?.error(error);
    // Afterwards it is the end of an exchange that nobody needs any more.
    if (this.#isDecided) return;
    this.#ended = error;
    this.#decide();
  }

  #decide(): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    clearTimeout(this.#timer);
    this.#decided(this);
  }
}
