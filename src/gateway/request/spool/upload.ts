import { type ByteSource, piecesOf } from '../../../metering/byte-source.ts';

/** A place in the bytes that came, and what goes upstream instead of them. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** As much as the kernel takes at once: what every call under way may have in memory of its body. */
const PIECE_BYTES = 64 * 1024;

/**
 * What goes upstream of a body that is kept in a file: its bytes as they came, save for the edits. Read piece by piece
 * as the upstream takes them.
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

  /** The same bytes with these edits. */
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
