import { ByteCursor, type ByteSource } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { AAC_CHANNEL_BYTES, AAC_SAMPLES } from './frame-stream.ts';
import { aacConfig, OPUS_MOST_SECONDS } from './packet-codec.ts';

/** Boxes with walked children (ISO 14496-12). */
const CONTAINERS: ReadonlySet<string> = new Set([
  'moov',
  'trak',
  'mdia',
  'minf',
  'stbl',
  'mvex',
  'moof',
  'traf',
  'udta',
  'edts',
  'dinf',
]);
const HEAD_BYTES = 16;
/** Bytes read of a box's content, up to the last field needed. */
const FIELDS_BYTES = 32;
const MAX_STSD_BYTES = 64 * 1024;
const MAX_DEPTH = 16;
const MAX_TRACKS = 100;

/** A track as described by its boxes. If two boxes disagree, the larger number counts. */
class Track {
  id = 0;
  isSound = false;
  codec: SampleCodec | undefined;
  /** The track has two sample descriptions or a packed size table (`stz2`), which are not read. */
  isStrange = false;
  samples = 0;
  /** Bytes of the longest sample. */
  longest = 0;
  /** Seconds stated by its `mdhd`; 0 if absent. */
  stated = 0;
}

/**
 * Length of an MP4 or M4A file, fragmented or not: the number of samples in the tables of its longest audio track,
 * times the longest sample of its codec. This is a bound, because decoders find no sample outside the tables; durations
 * in the tables are ignored. Undefined if an audio track has an unsupported codec, or a sample with more bytes than its
 * length needs (`isUncountable`).
 */
export async function mp4Walked(audio: ByteSource, start: number): Promise<Walked | undefined> {
  const cursor = new ByteCursor(audio, start);
  const tracks: Track[] = [];
  const ends = [cursor.size];
  const fragments = new Mp4Fragments();
  while (cursor.at + 8 <= cursor.size) {
    while (ends.length > 1 && cursor.at + 8 > (ends.at(-1) as number)) cursor.at = ends.pop() as number;
    const limit = ends.at(-1) as number;
    const head = cursor.peek(HEAD_BYTES) ?? (await cursor.load(HEAD_BYTES));
    if (head.length < 8) break;
    const type = head.toString('latin1', 4, 8);
    let size = head.readUInt32BE(0);
    const isLong = size === 1 && head.length === HEAD_BYTES;
    if (isLong) size = Number(head.readBigUInt64BE(8));
    const headBytes = isLong ? HEAD_BYTES : 8;
    // Size 0 means "to the end". Decoders cut a box at the end of its parent.
    const end = size === 0 ? limit : Math.min(limit, cursor.at + size);
    if (size !== 0 && size < headBytes) return undefined;
    if (type === 'trak' && tracks.push(new Track()) > MAX_TRACKS) return undefined;
    cursor.at += headBytes;
    if (CONTAINERS.has(type)) {
      if (ends.push(end) > MAX_DEPTH) return undefined;
      continue;
    }
    const fields = cursor.peek(FIELDS_BYTES) ?? (await cursor.load(FIELDS_BYTES));
    const track = tracks.at(-1);
    // A compressed header, whose tables only a decoder can read.
    if (type === 'cmov') return undefined;
    if (type === 'tfhd' && fields.length >= 8) fragments.head(fields);
    else if (type === 'trex') fragments.defaults(fields);
    else if (type === 'trun' && fields.length >= 8) await fragments.run(cursor, end);
    else if (track) {
      if (type === 'stsd') await readCodec(cursor, Math.min(end - cursor.at, MAX_STSD_BYTES), track);
      else if (type === 'stsz') await readSizes(cursor, end, track);
      else readTrack(track, type, fields);
    }
    cursor.at = end;
  }
  const heard = tracks.filter(({ isSound }) => isSound);
  for (const track of heard) {
    const { count, longest } = fragments.of(track.id);
    track.samples += count;
    track.longest = Math.max(track.longest, longest);
  }
  if (heard.length === 0 || heard.some(isUncountable)) return undefined;
  const longest = heard.reduce((most, track) => (secondsOf(track) > secondsOf(most) ? track : most));
  return {
    seconds: secondsOf(longest),
    stated: longest.stated > 0 ? longest.stated : undefined,
    isBound: longest.codec?.isBound ?? false,
  };
}

function secondsOf({ samples, codec }: Track): number {
  return samples * (codec?.seconds ?? 0);
}

function isUncountable({ isStrange, codec, longest }: Track): boolean {
  return isStrange || !codec || longest > codec.mostBytes;
}

async function readCodec(cursor: ByteCursor, size: number, track: Track): Promise<void> {
  const stsd = cursor.peek(size) ?? (await cursor.load(size));
  const codec = sampleCodec(stsd.subarray(0, size));
  if (track.codec) track.isStrange = true;
  track.codec = codec;
}

/** Reads an `stsz` box: the number of samples, and one size for all or a table of sizes. */
async function readSizes(cursor: ByteCursor, end: number, track: Track): Promise<void> {
  const head = cursor.peek(12) ?? (await cursor.load(12));
  if (head.length < 12) return;
  const each = head.readUInt32BE(4);
  track.samples = Math.max(track.samples, head.readUInt32BE(8));
  track.longest = Math.max(track.longest, each);
  cursor.at += 12;
  while (each === 0 && cursor.at + 4 <= end) {
    const sizes = cursor.peek(4) ?? (await cursor.load(4));
    if (sizes.length < 4) return;
    track.longest = Math.max(track.longest, sizes.readUInt32BE(0));
    cursor.at += 4;
  }
}

function readTrack(track: Track, type: string, fields: Buffer): void {
  if (fields.length < FIELDS_BYTES) return;
  const isWide = fields[0] === 1;
  if (type === 'tkhd') track.id = fields.readUInt32BE(isWide ? 20 : 12);
  else if (type === 'hdlr') track.isSound ||= fields.toString('latin1', 8, 12) === 'soun';
  else if (type === 'stz2') track.isStrange = true;
  else if (type === 'mdhd') {
    const scale = fields.readUInt32BE(isWide ? 20 : 12);
    const duration = isWide ? Number(fields.readBigUInt64BE(24)) : fields.readUInt32BE(16);
    const isOpen = duration === 0xffff_ffff;
    if (scale > 0 && !isOpen) track.stated = Math.max(track.stated, duration / scale);
  }
}

/** Bounds of one MP4 sample. An MP4 "sample" is one packet of the codec, not one amplitude. */
interface SampleCodec {
  /** Most seconds per sample. */
  readonly seconds: number;
  /** Most bytes that such a sample needs; a longer one may hold several packets. */
  readonly mostBytes: number;
  /** `seconds` exceeds the real length even in genuine files. */
  readonly isBound?: boolean;
}

const ENTRY_HEAD_BYTES = 8;
const ES_DESCRIPTOR = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC = 5;
/** AAC object type indications: MPEG 4, then the three profiles of MPEG 2. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);

/**
 * Codec in a sample description box (`stsd`). Of several entries, the one with the longest samples bounds all.
 * Undefined if any is not supported.
 */
function sampleCodec(stsd: Buffer): SampleCodec | undefined {
  let codec: SampleCodec | undefined;
  for (let at = 8; at + ENTRY_HEAD_BYTES <= stsd.length; ) {
    const size = stsd.readUInt32BE(at);
    const entry = stsd.subarray(at, at + size);
    const found = size >= ENTRY_HEAD_BYTES ? entryCodec(entry) : undefined;
    if (!found) return undefined;
    if (!codec || found.seconds > codec.seconds) codec = found;
    at += size;
  }
  return codec;
}

function entryCodec(entry: Buffer): SampleCodec | undefined {
  const name = entry.toString('latin1', 4, 8);
  if (name === 'mp4a') return aacSamples(entry);
  if (name === 'Opus')
    return { seconds: OPUS_MOST_SECONDS, mostBytes: Number.POSITIVE_INFINITY, isBound: true };
  if (name !== 'alac') return undefined;
  // The `alac` entry contains an `alac` box, which starts with the samples per packet and ends with the sample rate.
  const at = entry.indexOf('alac', ENTRY_HEAD_BYTES, 'latin1') + ENTRY_HEAD_BYTES;
  if (at < 2 * ENTRY_HEAD_BYTES || at + 24 > entry.length) return undefined;
  const seconds = entry.readUInt32BE(at) / entry.readUInt32BE(at + 20);
  return Number.isFinite(seconds) ? { seconds, mostBytes: Number.POSITIVE_INFINITY } : undefined;
}

function aacSamples(entry: Buffer): SampleCodec | undefined {
  const at = entry.indexOf('esds', ENTRY_HEAD_BYTES, 'latin1');
  const es = at < 0 ? undefined : descriptor(entry, at + 8, ES_DESCRIPTOR);
  if (!es || es.length < 3) return undefined;
  const flags = es.readUInt8(2);
  // These flags mark a stream that depends on another one, or is outside this file.
  if ((flags & 0xe0) !== 0) return undefined;
  const config = descriptor(es, 3, DECODER_CONFIG);
  if (!config || config.length < 13 || !AAC.has(config.readUInt8(0))) return undefined;
  const specific = descriptor(config, 13, DECODER_SPECIFIC);
  const found = specific && aacConfig(specific);
  return found && { seconds: AAC_SAMPLES / found.rate, mostBytes: found.channels * AAC_CHANNEL_BYTES };
}

/** Content of the MPEG-4 descriptor at `at`; undefined for another tag or a size of more than four bytes. */
function descriptor(bytes: Buffer, at: number, tag: number): Buffer | undefined {
  if (bytes[at] !== tag) return undefined;
  let size = 0;
  for (let next = at + 1; next < at + 5; next++) {
    const byte = bytes[next] ?? 0;
    size = size * 128 + (byte & 0x7f);
    if (byte < 0x80) return bytes.subarray(next + 1, next + 1 + size);
  }
  return undefined;
}

interface Samples {
  count: number;
  /** Bytes of the longest sample. */
  longest: number;
}

// Flags of a run (`trun`, ISO 14496-12, 8.8.8).
const HAS_OFFSET = 0x1;
const HAS_FIRST_FLAGS = 0x4;
const HAS_SIZES = 0x200;
/** Flags of the fields of each sample in a run: duration, size, flags, time offset. Each field has four bytes. */
const SAMPLE_FIELDS = [0x100, HAS_SIZES, 0x400, 0x800];
/** Flags and bytes of the optional fragment header fields (`tfhd`) before the default sample size. */
const HEAD_FIELDS = [
  [0x1, 8],
  [0x2, 4],
  [0x8, 4],
] as const;
const HAS_DEFAULT_SIZE = 0x10;

/**
 * Samples that fragments (`moof`) add to the tracks of an MP4 file. A streamed file has all its samples there, and
 * empty tables in its `moov`.
 */
class Mp4Fragments {
  readonly #tracks = new Map<number, Samples>();
  #current: Samples = { count: 0, longest: 0 };

  /** Samples of a track so far. */
  of(track: number): Readonly<Samples> {
    return this.#samplesOf(track);
  }

  /** Reads a `trex` box: the defaults of a track. */
  defaults(fields: Buffer): void {
    if (fields.length >= 20) this.#sizeOf(this.#samplesOf(fields.readUInt32BE(4)), fields.readUInt32BE(16));
  }

  /** Reads a `tfhd` box, which names the track of the following runs. */
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
