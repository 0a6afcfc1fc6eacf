import { setImmediate } from 'node:timers/promises';
import type { ByteSource } from '../byte-source.ts';

/** Full of the smallest pieces, it takes 5 ms. */
const WINDOW_BYTES = 64 * 1024;

/**
 * A place in a source. What is in the window is seen without waiting, so that millions of small pieces are walked in
 * little time; between windows others get their turn.
 */
export class ByteCursor {
  at: number;
  readonly size: number;
  readonly #source: ByteSource;
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;

  constructor(source: ByteSource, at = 0) {
    this.#source = source;
    this.size = source.size;
    this.at = at;
  }

  /** The next `length` bytes, fewer at the end of the source; undefined where they must be loaded first. */
  peek(length: number): Buffer | undefined {
    const from = this.at - this.#windowAt;
    const to = Math.min(this.at + length, this.size) - this.#windowAt;
    return from >= 0 && to <= this.#window.length
      ? this.#window.subarray(from, Math.max(from, to))
      : undefined;
  }

  /** Loads the next window of the audio, and resolves with `length` bytes from the cursor's place on. */
  async load(length: number): Promise<Buffer> {
    await setImmediate();
    this.#windowAt = this.at;
    this.#window = await this.#source.read(this.at, this.at + Math.max(length, WINDOW_BYTES));
    return this.#window.subarray(0, length);
  }
}
