import type { ByteCursor } from './byte-cursor.ts';

interface Samples {
  count: number;
  /** Bytes of the longest sample. */
  longest: number;
}

// Flags of a run (`trun`, ISO 14496-12, 8.8.8).
const HAS_OFFSET = 0x1;
const HAS_FIRST_FLAGS = 0x4;
const HAS_SIZES = 0x200;
/** Flags of the fields that each sample of a run has: duration, size, flags, time offset. A field has four bytes. */
const SAMPLE_FIELDS = [0x100, HAS_SIZES, 0x400, 0x800];
/** Flags and bytes of the optional fields of a fragment's head (`tfhd`) that precede its default sample size. */
const HEAD_FIELDS = [
  [0x1, 8],
  [0x2, 4],
  [0x8, 4],
] as const;
const HAS_DEFAULT_SIZE = 0x10;

/**
 * Samples that the fragments of an MP4 file (`moof`) add to its tracks. A streamed file has them all there, and empty
 * tables in its `moov`.
 */
export class Mp4Fragments {
  readonly #tracks = new Map<number, Samples>();
  #current: Samples = { count: 0, longest: 0 };

  /** Samples found so far for the track with this id. */
  of(track: number): Readonly<Samples> {
    return this.#samplesOf(track);
  }

  /** Reads a `trex` box: the defaults of a track. */
  defaults(fields: Buffer): void {
    if (fields.length >= 20) this.#sizeOf(this.#samplesOf(fields.readUInt32BE(4)), fields.readUInt32BE(16));
  }

  /** Reads a `tfhd` box: it names the track of the runs that follow. */
  head(fields: Buffer): void {
    const flags = fields.readUIntBE(1, 3);
    this.#current = this.#samplesOf(fields.readUInt32BE(4));
    if ((flags & HAS_DEFAULT_SIZE) === 0) return;
    const at = HEAD_FIELDS.reduce((sum, [flag, bytes]) => sum + (flags & flag ? bytes : 0), 8);
    if (at + 4 <= fields.length) this.#sizeOf(this.#current, fields.readUInt32BE(at));
  }

  /** Reads a `trun` box, a run of samples; the cursor is at its content, which ends at `end`. */
  async run(cursor: ByteCursor, end: number): Promise<void> {
    const head = cursor.peek(8) ?? (await cursor.load(8));
    const flags = head.readUIntBE(1, 3);
    this.#current.count += head.readUInt32BE(4);
    if ((flags & HAS_SIZES) === 0) return;
    const bytes = SAMPLE_FIELDS.reduce((sum, flag) => sum + (flags & flag ? 4 : 0), 0);
    const sizeAt = flags & 0x100 ? 4 : 0;
    cursor.at += 8 + (flags & HAS_OFFSET ? 4 : 0) + (flags & HAS_FIRST_FLAGS ? 4 : 0);
    while (cursor.at + bytes <= end) {
      const sample = cursor.peek(bytes) ?? (await cursor.load(bytes));
      if (sample.length < bytes) return;
      this.#sizeOf(this.#current, sample.readUInt32BE(sizeAt));
      cursor.at += bytes;
    }
  }

  #samplesOf(track: number): Samples {
    let samples = this.#tracks.get(track);
    if (!samples) {
      samples = { count: 0, longest: 0 };
      this.#tracks.set(track, samples);
    }
    return samples;
  }

  #sizeOf(samples: Samples, bytes: number): void {
    samples.longest = Math.max(samples.longest, bytes);
  }
}
