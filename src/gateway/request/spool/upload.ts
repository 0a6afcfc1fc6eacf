import { type ByteSource, piecesOf } from '../../../metering/byte-source.ts';

/** A change of a body on its way upstream: the bytes [start, end) become `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A body with edits. */
export function edited(bytes: Buffer | Upload, edits: readonly Edit[]): Buffer | Upload {
  if (edits.length === 0) return bytes;
  if (!Buffer.isBuffer(bytes)) return bytes.edited(edits);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(bytes.subarray(at, start), Buffer.from(text));
    at = end;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

/** Bytes that are read at a time, and all of the body that is in memory: as many as the kernel takes in one write. */
const PIECE_BYTES = 64 * 1024;

/**
 * A body in a file as it goes upstream: the bytes that the client sent, with edits. It is read piece by piece, as fast
 * as the upstream accepts it.
 */
export class Upload implements AsyncIterable<Buffer> {
  readonly #source: ByteSource;
  readonly #edits: readonly Edit[];
  readonly size: number;

  /** `edits` must not overlap; their order does not matter. */
  constructor(source: ByteSource, edits: readonly Edit[] = []) {
    this.#source = source;
    this.#edits = edits.toSorted((a, b) => a.start - b.start);
    this.size = edits.reduce(
      (size, { start, end, text }) => size - (end - start) + Buffer.byteLength(text),
      source.size,
    );
  }

  /** Another upload of the same source, with these edits in place of this one's. */
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
