import { setImmediate } from 'node:timers/promises';

/** Bytes in memory or in a file, readable in pieces. */
export interface ByteSource {
  readonly size: number;
  /** Returns bytes [start, end), clipped to the source; a view or a copy. */
  read(start: number, end: number): Promise<Buffer>;
}

/** Size of the pieces that readers scan: enough for native searches, small enough for hundreds of concurrent calls. */
export const WINDOW_BYTES = 256 * 1024;

export function inMemory(bytes: Buffer): ByteSource {
  return { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

/** Bytes [start, end) of a source, as a source. */
export function rangeOf(source: ByteSource, start: number, end: number): ByteSource {
  const size = Math.max(0, Math.min(end, source.size) - start);
  return { size, read: (from, to) => source.read(start + from, start + Math.min(to, size)) };
}

/** Yields bytes [start, end) in order, in pieces of at most `pieceBytes`. */
export async function* piecesOf(
  source: ByteSource,
  start = 0,
  end = source.size,
  pieceBytes = WINDOW_BYTES,
): AsyncGenerator<Buffer, void, undefined> {
  for (let at = start; at < end; ) {
    const piece = await source.read(at, Math.min(end, at + pieceBytes));
    at += piece.length;
    yield piece;
  }
}

/** Index of the first `needle` at or after `from`; -1 if there is none. */
export async function indexOf(source: ByteSource, needle: Buffer, from: number): Promise<number> {
  const overlap = needle.length - 1;
  for (let at = from; at + overlap < source.size; at += WINDOW_BYTES) {
    const found = (await source.read(at, at + WINDOW_BYTES + overlap)).indexOf(needle);
    if (found >= 0) return at + found;
  }
  return -1;
}

/** Bytes per load. A window full of the smallest possible frames blocks the event loop for 5 ms. */
const CURSOR_BYTES = 64 * 1024;

/**
 * Reading position in a source, with a loaded window of bytes after it. Reads inside the window are synchronous: a file
 * can hold millions of small frames, and a promise costs more than a frame. Loading a window yields to the event loop.
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
   * Returns the next `length` bytes without moving the cursor, fewer at the end of the source; undefined if they are
   * outside the window and need `load`.
   */
  peek(length: number): Buffer | undefined {
    const from = this.at - this.#windowAt;
    const to = Math.min(this.at + length, this.size) - this.#windowAt;
    return from >= 0 && to <= this.#window.length
      ? this.#window.subarray(from, Math.max(from, to))
      : undefined;
  }

  /** Loads a window at the cursor and resolves with its first `length` bytes, fewer at the end of the source. */
  async load(length: number): Promise<Buffer> {
    await setImmediate();
    this.#windowAt = this.at;
    this.#window = await this.#source.read(this.at, this.at + Math.max(length, CURSOR_BYTES));
    return this.#window.subarray(0, length);
  }
}
