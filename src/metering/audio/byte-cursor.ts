import { setImmediate } from 'node:timers/promises';
import type { ByteSource } from '../byte-source.ts';

/** Bytes read at a time. A window full of the smallest frames that there are takes 5 ms of the event loop. */
const WINDOW_BYTES = 64 * 1024;

/**
 * A reading position in a source, with a window of bytes loaded from there on. Reads inside the window are synchronous,
 * because a file can hold millions of small frames and a promise for each would cost more than the frame. Loading the
 * next window gives the event loop to other calls first.
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

  /**
   * The next `length` bytes without moving the cursor, fewer at the end of the source; undefined where they are not in
   * the window, so that `load` must be awaited.
   */
  peek(length: number): Buffer | undefined {
    const from = this.at - this.#windowAt;
    const to = Math.min(this.at + length, this.size) - this.#windowAt;
    return from >= 0 && to <= this.#window.length
      ? this.#window.subarray(from, Math.max(from, to))
      : undefined;
  }

  /**
   * Loads a window that begins at the cursor; resolves with its first `length` bytes, fewer at the end of the source.
   */
  async load(length: number): Promise<Buffer> {
    await setImmediate();
    this.#windowAt = this.at;
    this.#window = await this.#source.read(this.at, this.at + Math.max(length, WINDOW_BYTES));
    return this.#window.subarray(0, length);
  }
}
