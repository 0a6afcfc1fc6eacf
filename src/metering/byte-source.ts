import { setImmediate } from 'node:timers/promises';

/** Bytes in memory or in a file that can be read in pieces. */
export interface ByteSource {
  readonly size: number;
  /** The bytes of [start, end), as far as there are any; a view or a copy. */
  read(start: number, end: number): Promise<Buffer>;
}

/**
 * Size of the pieces that readers look at: large enough for native searches, small enough for hundreds of calls at
 * once.
 */
export const WINDOW_BYTES = 256 * 1024;

/** A body in memory as a source. */
export function inMemory(bytes: Buffer): ByteSource {
  return { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

/** The bytes [start, end) of a source as a source of their own. */
export function rangeOf(source: ByteSource, start: number, end: number): ByteSource {
  const size = Math.max(0, Math.min(end, source.size) - start);
  return { size, read: (from, to) => source.read(start + from, start + Math.min(to, size)) };
}

/** The bytes of [start, end) in order, in pieces of at most `pieceBytes`. */
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

/** Bytes read at a time. A window full of the smallest frames that there are takes 5 ms of the event loop. */
const CURSOR_BYTES = 64 * 1024;

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
   * The next `length` bytes without moving the cursor, fewer at the end of the source; undefined if they are not in
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
    this.#window = await this.#source.read(this.at, this.at + Math.max(length, CURSOR_BYTES));
    return this.#window.subarray(0, length);
  }
}
