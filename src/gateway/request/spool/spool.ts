import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../config/make-folder.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { type ByteSource, piecesOf } from '../../../metering/byte-source.ts';

/**
 * The body of one call in an unnamed file: its name is removed before the first write, so that the system frees it when
 * it is closed or the process ends in any way. States: being written → complete and read, any number of times → closed.
 */
export class Spool implements ByteSource {
  readonly #file: FileHandle;
  readonly #onClose: () => void;
  #size = 0;
  #isClosed = false;

  constructor(file: FileHandle, onClose = () => {}) {
    this.#file = file;
    this.#onClose = onClose;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends bytes. Throws 503 `service_unavailable` if the file can't be written, for example on a full disk. */
  async append(bytes: Buffer): Promise<void> {
    try {
      for (let from = 0; from < bytes.length; ) {
        const { bytesWritten } = await this.#file.write(bytes, from, bytes.length - from, this.#size);
        from += bytesWritten;
        this.#size += bytesWritten;
      }
    } catch (cause) {
      throw cannotKeep(cause);
    }
  }

  /** Reads [start, end). Throws if the file is closed, because the client has left, or can't be read. */
  async read(start: number, end: number): Promise<Buffer> {
    if (this.#isClosed) throw new GatewayError('invalid_request', 'The upload was interrupted.');
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(end, this.#size) - start));
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await this.#file.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) throw new Error('a spooled body is shorter than what was written');
      at += bytesRead;
    }
    return bytes;
  }

  /** Frees the file after pending reads. Idempotent; never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    // The content is no longer needed, so an error loses nothing.
    await this.#file.close().catch(() => {});
  }
}

/** Folder for the files of large bodies. It looks empty, because the files have no names. */
export class SpoolFolder {
  readonly #path: string;
  /** Bodies of open calls. */
  readonly #open = new Set<Spool>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens an empty file for one body. Throws 503 `service_unavailable` on failure. */
  async create(): Promise<Spool> {
    try {
      const spool = new Spool(await this.#nameless(), () => this.#open.delete(spool));
      this.#open.add(spool);
      return spool;
    } catch (cause) {
      throw cannotKeep(cause);
    }
  }

  /** Throws the system's error if no file can be created here. Ignores a full disk, which may have room later. */
  async check(): Promise<void> {
    try {
      await (await this.#nameless()).close();
    } catch (error) {
      if (!FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  /** Number and bytes of the bodies of open calls. */
  get kept(): { readonly bodies: number; readonly bytes: number } {
    let bytes = 0;
    for (const spool of this.#open) bytes += spool.size;
    return { bodies: this.#open.size, bytes };
  }

  async #nameless(): Promise<FileHandle> {
    const path = join(this.#path, randomUUID());
    const file = await open(path, 'wx+', 0o600).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      makeFolder(this.#path);
      return await open(path, 'wx+', 0o600);
    });
    await unlink(path).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return file;
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT']);

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function cannotKeep(cause: unknown): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'The gateway has no space for a request body of this size. Try again shortly, or send a smaller body.',
    null,
    undefined,
    { cause },
  );
}

/** An edit of a body: replaces the bytes [start, end) by `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies edits to a body. */
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

/**
 * Returns a function that exchanges the texts of some of `edits`, which produced `sent` from `original`. An edit whose
 * text is that of the original need not have been made.
 */
export function exchanger(
  original: Buffer | Upload,
  sent: Buffer | Upload,
  edits: readonly Edit[],
): (texts: ReadonlyMap<Edit, string>) => Buffer | Upload {
  return Buffer.isBuffer(original) ? exchangerInMemory(sent, edits) : exchangerInFile(original, edits);
}

function exchangerInFile(original: Upload, edits: readonly Edit[]): ReturnType<typeof exchanger> {
  return (texts) => original.edited(edits.map((edit) => ({ ...edit, text: texts.get(edit) ?? edit.text })));
}

/** Only the sent bytes stay in memory. */
function exchangerInMemory(sent: Buffer | Upload, edits: readonly Edit[]): ReturnType<typeof exchanger> {
  return (texts) => {
    let growth = 0;
    const moved = edits
      .toSorted((a, b) => a.start - b.start)
      .flatMap((edit) => {
        const start = edit.start + growth;
        const end = start + Buffer.byteLength(edit.text);
        growth = end - edit.end;
        const text = texts.get(edit);
        return text === undefined ? [] : [{ start, end, text }];
      });
    return edited(sent, moved);
  };
}

/** Bytes per read, and of an in-memory body: as many as the kernel takes in one write. */
const PIECE_BYTES = 64 * 1024;

/** A body in a file on its way upstream, with edits. It is read in chunks, as fast as the upstream accepts it. */
export class Upload implements AsyncIterable<Buffer> {
  readonly #source: ByteSource;
  readonly #edits: readonly Edit[];
  readonly size: number;

  /** `edits` must not overlap; their order is irrelevant. */
  constructor(source: ByteSource, edits: readonly Edit[] = []) {
    this.#source = source;
    this.#edits = edits.toSorted((a, b) => a.start - b.start);
    this.size = edits.reduce(
      (size, { start, end, text }) => size - (end - start) + Buffer.byteLength(text),
      source.size,
    );
  }

  /** Another upload of the same source with only these edits. */
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
