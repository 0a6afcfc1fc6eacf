import { type ByteSource, piecesOf } from '../../../metering/byte-source.ts';

/** Replaces the bytes [start, end) of a body by `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Bytes of its body that a call under way has in memory: as many as the kernel takes at once. */
const PIECE_BYTES = 64 * 1024;

/**
 * A body in a file as it goes upstream: its bytes as they came, with the edits. Read piece by piece, as fast as the
 * upstream takes them.
 */
export class Upload implements AsyncIterable<Buffer> {
  readonly #source: ByteSource;
  readonly #edits: readonly Edit[];
  readonly size: number;

  /** `edits` do not overlap. */
  constructor(source: ByteSource, edits: readonly Edit[] = []) {
    this.#source = source;
    this.#edits = edits.toSorted((a, b) => a.start - b.start);
    this.size = edits.reduce(
      (size, { start, end, text }) => size - (end - start) + Buffer.byteLength(text),
      source.size,
    );
  }

  /** The bytes as they came, with these edits instead of the upload's own. */
  edited(edits: readonly Edit[]): Upload {
    return new Upload(this.#source, edits);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    let at = 0;
    for (const { start, end, text } of this.#edits) {
      yield* piecesOf(this.#source, at, start, PIECE_BYTES);
      yield Buffer.from(text);
      at = end;
    }
    yield* piecesOf(this.#source, at, this.#source.size, PIECE_BYTES);
  }
}
