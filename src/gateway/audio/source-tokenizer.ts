import { setImmediate } from 'node:timers/promises';
import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3';
import type { ByteSource } from '../upload/byte-source.ts';

/** Parsers read a few bytes at a time, mostly one after the other. */
const AHEAD_BYTES = 64 * 1024;
/** Reads between which others get their turn: about 2 ms. */
const READS_A_TURN = 1_000;
/** An hour of Ogg takes 11,000; a file made of empty pages would hold a core for seconds. */
const MAX_READS = 200_000;

/** What the parser of audio reads a source through. Gives up, with an error, where it would take too long. */
export class SourceTokenizer extends AbstractTokenizer {
  override readonly fileInfo: { readonly size: number };
  readonly #source: ByteSource;
  #ahead: Buffer = Buffer.alloc(0);
  #aheadAt = 0;
  #reads = 0;

  constructor(source: ByteSource) {
    super();
    this.#source = source;
    this.fileInfo = { size: source.size };
  }

  override async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    if (++this.#reads > MAX_READS) throw new RangeError('audio in too many pieces');
    // The parser awaits what is there already, so it would never let go of the process by itself.
    if (this.#reads % READS_A_TURN === 0) await setImmediate();
    const { position } = this.normalizeOptions(target, options);
    const length = await this.peekBuffer(target, options);
    this.position = position + length;
    return length;
  }

  override async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { length, position, mayBeLess } = this.normalizeOptions(target, options);
    const there = Math.max(0, Math.min(this.fileInfo.size - position, length));
    if (there < length && !mayBeLess) throw new EndOfStreamError();
    if (there === 0) return 0;
    const from = position - this.#aheadAt;
    if (from < 0 || from + there > this.#ahead.length) {
      this.#ahead = await this.#source.read(position, position + Math.max(there, AHEAD_BYTES));
      this.#aheadAt = position;
    }
    const at = position - this.#aheadAt;
    target.set(this.#ahead.subarray(at, at + there));
    return there;
  }

  override supportsRandomAccess(): boolean {
    return true;
  }

  setPosition(position: number): void {
    this.position = position;
  }
}
