import { FLAC_HEAD_BYTES, flacFrameAt, streamInfo } from './flac.ts';
import { FRAME_HEAD_BYTES, frameAt } from './frame-stream.ts';

/**
 * Measures streamed audio in a few bytes of memory: providers' answers, which are trusted, and the frames of uploads
 * (measure-audio.ts).
 */
export interface PassingSound {
  push(chunk: Buffer): void;
  /** Seconds so far; undefined for an unknown format. */
  readonly seconds: number | undefined;
}

/** Raw samples that OpenAI sends for `pcm`: 24 kHz, 16 bits, one channel. */
const PCM_BYTES_PER_SECOND = 48_000;
const OPUS_HZ = 48_000;
const MAGIC_BYTES = 12;
const OGG_HEAD_BYTES = 27;
/** `fLaC` and the STREAMINFO block. */
const FLAC_INFO_BYTES = 42;
const FLAC_SYNC_BYTES = 2;
/** Longest head of a WAV file before its samples. */
const MAX_WAVE_HEAD_BYTES = 64 * 1024;

/** Measures the audio of an answer. `format`: the requested format; all formats except `pcm` identify themselves. */
export function passingSound(format: unknown): PassingSound {
  return format === 'pcm' ? new Samples(PCM_BYTES_PER_SECOND) : new Unidentified();
}

class Samples implements PassingSound {
  readonly #bytesPerSecond: number;
  #bytes = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
  }

  get seconds(): number {
    return this.#bytes / this.#bytesPerSecond;
  }
}

/** Audio whose format is unknown until its first bytes arrive. */
class Unidentified implements PassingSound {
  #head: Buffer = Buffer.alloc(0);
  #sound: PassingSound | undefined;

  push(chunk: Buffer): void {
    if (this.#sound) {
      this.#sound.push(chunk);
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < MAGIC_BYTES) return;
    this.#sound = soundOf(this.#head);
    this.#sound.push(this.#head);
    this.#head = Buffer.alloc(0);
  }

  get seconds(): number | undefined {
    return this.#sound?.seconds;
  }
}

/** Measures frames of MPEG audio or AAC. Ignores the frame count in a Xing or VBRI header. */
export function mpegSound(): PassingSound {
  return new Pieces(mpegFrame());
}

/** Measures FLAC frames. `rate`: sample rate of STREAMINFO, if it does not come. */
export function flacSound(rate = 0): PassingSound {
  return new Pieces(flacFrame(rate));
}

function soundOf(head: Buffer): PassingSound {
  const magic = head.toString('latin1', 0, MAGIC_BYTES);
  if (magic.startsWith('OggS')) return new Pieces(oggPage());
  if (magic.startsWith('fLaC')) return flacSound();
  if (magic.startsWith('RIFF') && magic.endsWith('WAVE')) return new Wave();
  return mpegSound();
}

/** A piece at an index: its length in bytes, and the seconds that it adds, or the new total. */
interface Piece {
  readonly bytes: number;
  readonly adds?: number;
  readonly until?: number;
}

/** Reads the piece at `at`; undefined if it needs more bytes, or no piece begins there. */
interface PieceReader {
  /** Bytes that identify a piece. */
  readonly headBytes: number;
  read(bytes: Buffer, at: number): Piece | undefined;
  /** Byte to search for when no piece begins. */
  readonly sync: number;
}

/** Audio in pieces that state their length. */
class Pieces implements PassingSound {
  readonly #reader: PieceReader;
  #left: Buffer = Buffer.alloc(0);
  /** Missing bytes of the current piece. */
  #skip = 0;
  #seconds: number | undefined;

  constructor(reader: PieceReader) {
    this.#reader = reader;
  }

  get seconds(): number | undefined {
    // The last pieces are shorter than the bytes that identify others.
    const tail = this.#left;
    this.#left = Buffer.alloc(0);
    this.#walk(Buffer.concat([tail, Buffer.alloc(this.#reader.headBytes)]), tail.length);
    return this.#seconds;
  }

  push(chunk: Buffer): void {
    const bytes = this.#left.length === 0 ? chunk : Buffer.concat([this.#left, chunk]);
    const at = this.#walk(bytes, bytes.length - this.#reader.headBytes + 1);
    this.#skip = Math.max(0, at - bytes.length);
    // A copy: a slice would keep the whole chunk in memory.
    this.#left = Buffer.from(bytes.subarray(at));
  }

  /** Reads the pieces that begin before `end`; returns the start of the next one. */
  #walk(bytes: Buffer, end: number): number {
    const { sync } = this.#reader;
    let at = this.#skip;
    while (at < end) {
      const piece = this.#reader.read(bytes, at);
      if (piece) {
        this.#seconds = piece.until ?? (this.#seconds ?? 0) + (piece.adds ?? 0);
        at += piece.bytes;
      } else {
        const next = bytes.indexOf(sync, at + 1);
        at = next < 0 ? bytes.length : next;
      }
    }
    return at;
  }
}

/** Frames of MP3 or of AAC with ADTS headers, with or without an ID3 tag. */
function mpegFrame(): PieceReader {
  return {
    headBytes: Math.max(10, FRAME_HEAD_BYTES),
    sync: 0xff,
    read(bytes, at) {
      if (bytes.toString('latin1', at, at + 3) === 'ID3') {
        const size = bytes.subarray(at + 6, at + 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
        return { bytes: 10 + size };
      }
      const frame = frameAt(bytes, at);
      return frame && { bytes: frame.bytes, adds: frame.seconds };
    },
  };
}

/** Ogg pages with Opus; the granule position is the time at the end of each. */
function oggPage(): PieceReader {
  let skip: number | undefined;
  return {
    headBytes: OGG_HEAD_BYTES + 255 + 12,
    sync: 0x4f,
    read(bytes, at) {
      if (bytes.toString('latin1', at, at + 4) !== 'OggS') return undefined;
      const segments = bytes.readUInt8(at + 26);
      const body = at + OGG_HEAD_BYTES + segments;
      let length = OGG_HEAD_BYTES + segments;
      for (let index = at + OGG_HEAD_BYTES; index < body; index++) length += bytes.readUInt8(index);
      if (bytes.toString('latin1', body, body + 8) === 'OpusHead') skip = bytes.readUInt16LE(body + 10);
      const granule = bytes.readBigInt64LE(at + 6);
      if (skip === undefined || granule <= 0n) return { bytes: length };
      return { bytes: length, until: Math.max(0, Number(granule) - skip) / OPUS_HZ };
    },
  };
}

/** FLAC frames. They don't state their length in bytes; the sync code finds the next one. */
function flacFrame(streamRate: number): PieceReader {
  let kind: number | undefined;
  let rate = streamRate;
  return {
    headBytes: FLAC_INFO_BYTES + FLAC_HEAD_BYTES,
    sync: 0xff,
    read(bytes, at) {
      if (bytes.toString('latin1', at, at + 4) === 'fLaC') {
        rate = streamInfo(bytes.subarray(at + 8)).rate;
        return { bytes: FLAC_INFO_BYTES };
      }
      const frame = flacFrameAt(bytes, at, rate);
      if (!frame || !Number.isFinite(frame.seconds) || (kind ?? frame.kind) !== frame.kind) return undefined;
      kind = frame.kind;
      return { bytes: FLAC_SYNC_BYTES, adds: frame.seconds };
    },
  };
}

/**
 * A WAV file. All bytes after the head of its `data` chunk are samples, since a streamed file doesn't know its size.
 */
class Wave implements PassingSound {
  #head: Buffer = Buffer.alloc(0);
  #samples: Samples | undefined;

  push(chunk: Buffer): void {
    if (this.#samples) {
      this.#samples.push(chunk);
      return;
    }
    if (this.#head.length > MAX_WAVE_HEAD_BYTES) return;
    this.#head = Buffer.concat([this.#head, chunk]);
    const bytes = this.#head;
    let bytesPerSecond = 0;
    for (let at = MAGIC_BYTES; at + 8 <= bytes.length; ) {
      const name = bytes.toString('latin1', at, at + 4);
      if (name === 'fmt ' && at + 24 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(at + 16);
      if (name === 'data' && bytesPerSecond > 0) {
        this.#samples = new Samples(bytesPerSecond);
        this.#samples.push(bytes.subarray(at + 8));
        this.#head = Buffer.alloc(0);
        return;
      }
      const size = bytes.readUInt32LE(at + 4);
      at += 8 + size + (size % 2);
    }
  }

  get seconds(): number | undefined {
    return this.#samples?.seconds;
  }
}
