import { ByteCursor, type ByteSource, rangeOf } from '../byte-source.ts';
import { type AudioLength, lengthOf, UNKNOWN, UNMEASURABLE, type Walked } from './audio-length.ts';
import { flacWalked } from './flac.ts';
import { framesSeconds, framesStart } from './frame-stream.ts';
import { matroskaWalked } from './matroska.ts';
import { mp4Walked } from './mp4.ts';
import { oggWalked } from './ogg.ts';

/** Measurable formats, for error messages. */
export const MEASURED_FORMATS = 'FLAC, M4A, MP3, MP4, OGG, WAV, WEBM or AAC with ADTS headers';

/** Walks a file from `start`; resolves with undefined if its length can't be bounded. */
type Walk = (audio: ByteSource, start: number) => Promise<Walked | undefined>;

/**
 * Containers by magic bytes at an offset; the first match wins. A format without a walk is known but not measurable. It
 * must not count as unknown, since the size bounds unknown formats.
 */
const CONTAINERS: readonly (readonly [at: number, magic: string, walk?: Walk])[] = [
  [8, 'WAVE', waveWalked],
  [0, 'fLaC', flacWalked],
  [0, 'OggS', oggWalked],
  [0, '\x1aE\xdf\xa3', matroskaWalked],
  [4, 'ftyp', mp4Walked],
  [4, 'moov', mp4Walked],
  [4, 'mdat', mp4Walked],
  [4, 'wide', mp4Walked],
  [4, 'free', mp4Walked],
  // AVI, AIFF, CAF, AU, Wave64, AMR, ASF, FLV, MPEG program streams, WavPack, Monkey's Audio, True Audio, Musepack,
  // DSD.
  [0, 'RIFF'],
  [0, 'RIFX'],
  [0, 'FORM'],
  [0, 'FRM8'],
  [0, 'caff'],
  [0, '.snd'],
  [0, 'riff'],
  [0, '#!AMR'],
  [0, '0&\xb2u'],
  [0, 'FLV'],
  [0, '\0\0\x01\xba'],
  [0, 'wvpk'],
  [0, 'MAC '],
  [0, 'TTA'],
  [0, 'MP+'],
  [0, 'MPCK'],
  [0, 'DSD '],
];
const MAGIC_BYTES = 16;

/**
 * Length of an audio file, counted in its frames, packets or samples: a header can state anything, and decoders play
 * the content. Specification section 5 charges a transcription by the second, as the provider reports it or else as
 * bounded from the audio. Rejects if `audio` can't be read.
 */
export async function measureAudio(audio: ByteSource): Promise<AudioLength> {
  const start = await id3End(audio);
  const magic = (await audio.read(start, start + MAGIC_BYTES)).toString('latin1');
  const container = CONTAINERS.find(([at, text]) => magic.startsWith(text, at));
  if (container) {
    const walk = container[2];
    return walk ? lengthOf(await walk(audio, start)) : UNMEASURABLE;
  }
  const frames = await framesStart(audio, start);
  return frames === undefined ? UNKNOWN : lengthOf(await framesSeconds(audio, frames));
}

/** Most consecutive tags skipped; a genuine file has one or two. */
const MAX_TAGS = 16;

/** Offset after the ID3v2 tags that may precede any audio format; 0 if there are none. */
async function id3End(audio: ByteSource): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const head = await audio.read(at, at + 10);
    if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') break;
    const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6);
    const hasFooter = ((head[5] as number) & 0x10) !== 0;
    at +=
      10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f)) + (hasFooter ? 10 : 0);
  }
  return at;
}

const CHUNK_HEAD_BYTES = 8;
/** Bytes read of a `fmt ` chunk, including the codec of an extensible one. */
const FORMAT_BYTES = 26;
/** Format tag of an extensible chunk, which names the codec later. */
const EXTENSIBLE = 0xfffe;
/** Format tags (RFC 2361) of codecs whose fixed bits per sample are in the header: PCM, float, A-law, mu-law. */
const PLAIN: ReadonlySet<number> = new Set([1, 3, 6, 7]);
/** Format tags of ADPCM (Microsoft, IMA and DVI), with at most two samples a byte. */
const HALF: ReadonlySet<number> = new Set([2, 0x11]);
/** Format tags of MPEG audio and MP3, whose frames are counted. */
const MPEG: ReadonlySet<number> = new Set([0x50, 0x55]);
const MAX_BITS = 64;
/** Sizes of a `data` chunk that mean "to the end of the file": live recorders write the header first. */
const OPEN_SIZES: ReadonlySet<number> = new Set([0, 0xffff_ffff]);

interface Format {
  readonly tag: number;
  readonly bytesPerSecond: number;
  /** The header's block size agrees with its channels and bits. */
  readonly isConsistent: boolean;
}

/**
 * Length of a WAV file: the bytes of its `data` chunks divided by rate, channels and bits of the `fmt ` chunk. Some
 * decoders use the bits, others the block size; the smaller one gives the longer time. A chunk after the data that
 * exceeds the file counts as audio. Undefined for any other codec, or unless the file has exactly one `fmt ` chunk.
 */
async function waveWalked(audio: ByteSource, start: number): Promise<Walked | undefined> {
  const cursor = new ByteCursor(audio, start + 12);
  let format: Format | undefined;
  let data = 0;
  let dataAt = -1;
  while (cursor.at + CHUNK_HEAD_BYTES <= cursor.size) {
    const wanted = CHUNK_HEAD_BYTES + FORMAT_BYTES;
    const head = cursor.peek(wanted) ?? (await cursor.load(wanted));
    const name = head.toString('latin1', 0, 4);
    const stated = head.readUInt32LE(4);
    const from = cursor.at + CHUNK_HEAD_BYTES;
    const left = cursor.size - from;
    if (name === 'fmt ') {
      // Decoders disagree on which of two `fmt ` chunks counts.
      if (format || head.length < CHUNK_HEAD_BYTES + 16) return undefined;
      format = readFormat(head.subarray(CHUNK_HEAD_BYTES));
    }
    const isData = name === 'data';
    // A chunk longer than the rest of the file contains all of it, whatever its name.
    const size = stated > left || (isData && OPEN_SIZES.has(stated)) ? left : stated;
    if (isData || (size < stated && dataAt >= 0)) {
      if (dataAt < 0) dataAt = from;
      data += size;
    }
    cursor.at = from + size + (size % 2);
  }
  if (!format || dataAt < 0) return undefined;
  if (MPEG.has(format.tag)) {
    const frames = rangeOf(audio, dataAt, audio.size);
    const first = await framesStart(frames, 0);
    return first === undefined ? undefined : await framesSeconds(frames, first);
  }
  if (!(format.bytesPerSecond > 0)) return undefined;
  return { seconds: data / format.bytesPerSecond, isBound: !format.isConsistent };
}

function readFormat(chunk: Buffer): Format {
  const stated = chunk.readUInt16LE(0);
  const tag = stated === EXTENSIBLE && chunk.length >= FORMAT_BYTES ? chunk.readUInt16LE(24) : stated;
  const channels = chunk.readUInt16LE(2);
  const rate = chunk.readUInt32LE(4);
  const blockAlign = chunk.readUInt16LE(12);
  const bits = chunk.readUInt16LE(14);
  if (HALF.has(tag)) return { tag, bytesPerSecond: (channels * rate) / 2, isConsistent: true };
  if (!PLAIN.has(tag) || bits > MAX_BITS) return { tag, bytesPerSecond: 0, isConsistent: true };
  const frame = channels * Math.max(1, Math.ceil(bits / 8));
  const smallest = blockAlign > 0 ? Math.min(frame, blockAlign) : frame;
  return { tag, bytesPerSecond: smallest * rate, isConsistent: frame === blockAlign };
}
