import { setImmediate } from 'node:timers/promises';
import { type ByteSource, piecesOf } from '../byte-source.ts';
import { flacHead } from './flac.ts';
import { framesStart } from './frame-stream.ts';
import { matroskaSeconds } from './matroska.ts';
import { mp4Seconds } from './mp4.ts';
import { oggSeconds } from './ogg.ts';
import { flacSound, mpegSound, type PassingSound } from './passing-length.ts';

/** Length of an uploaded audio file, and how far to trust it. */
export interface AudioLength {
  /** Undefined if it can't be measured. */
  readonly seconds: number | undefined;
  /**
   * - `measured`: charged as exact.
   * - `bounded`: the file is too large for the length that it states. Charged as an estimate.
   * - `unmeasurable`: a known container whose length is not read. Its size gives no bound either, because some codecs
   *   write an hour of silence in a few kilobytes.
   * - `unknown`: not a known format.
   */
  readonly how: 'measured' | 'bounded' | 'unmeasurable' | 'unknown';
}

/** Bound of the tokens per second of audio: Whisper's encoder makes 50, Gemini 32, OpenAI's other models 10. */
export const AUDIO_TOKENS_PER_SECOND = 50;

/** Measurable formats, for error messages. */
export const MEASURED_FORMATS = 'FLAC, M4A, MP3, MP4, OGG, WAV, WEBM or AAC with ADTS headers';

/** Highest bit rate of compressed audio: a file lasts at least its size at this rate, whatever its header states. */
const MAX_BYTES_PER_SECOND = 512_000 / 8;
/** Tolerance of that bound, for what a file has beside its audio. */
const BESIDE_SECONDS = 0.25;

type Read = (audio: ByteSource, start: number) => Promise<number | undefined>;

/** Containers by magic bytes at an offset; the first match wins. */
const CONTAINERS: readonly (readonly [at: number, magics: readonly string[], read: Read])[] = [
  [0, ['fLaC'], flacSeconds],
  [0, ['OggS'], oggSeconds],
  [0, ['\x1aE\xdf\xa3'], matroskaSeconds],
  [4, ['ftyp', 'moov', 'mdat', 'wide', 'free'], mp4Seconds],
];
/**
 * Containers that are known but not measurable: AVI, AIFF, CAF, AU, Wave64, AMR, ASF, FLV, MPEG program streams,
 * WavPack, Monkey's Audio, True Audio, Musepack, DSD.
 */
const OTHERS =
  'RIFF RIFX FORM FRM8 caff .snd riff #!AMR 0&\xb2u FLV \0\0\x01\xba wvpk MAC TTA MP+ MPCK DSD'.split(' ');

/**
 * Measures an audio file by its header, or by its frames if it has none, and at least by its size. Specification
 * section 5 charges a transcription by the second, as the provider reports it or else as measured. Rejects if `audio`
 * can't be read.
 */
export async function measureAudio(audio: ByteSource): Promise<AudioLength> {
  const start = await id3End(audio);
  const magic = (await audio.read(start, start + 16)).toString('latin1');
  if (magic.startsWith('WAVE', 8)) return await wave(audio, start);
  const least = (audio.size - start) / MAX_BYTES_PER_SECOND;
  const container = CONTAINERS.find(([at, magics]) => magics.some((text) => magic.startsWith(text, at)));
  if (container) return lengthOf(await container[2](audio, start), least);
  if (OTHERS.some((text) => magic.startsWith(text))) return UNMEASURABLE;
  const frames = await framesStart(audio, start);
  if (frames === undefined) return { seconds: undefined, how: 'unknown' };
  return lengthOf(await passed(audio, frames, mpegSound()), least);
}

/** Seconds of FLAC as its header states them, or else those of its frames. */
async function flacSeconds(audio: ByteSource, start: number): Promise<number | undefined> {
  const head = await flacHead(audio, start);
  return head && (head.seconds ?? (await passed(audio, head.framesAt, flacSound(head.rate))));
}

/** A piece full of bytes that could begin a frame takes 10 ms. */
const PIECE_BYTES = 64 * 1024;

async function passed(audio: ByteSource, start: number, sound: PassingSound): Promise<number | undefined> {
  for await (const piece of piecesOf(audio, start, audio.size, PIECE_BYTES)) {
    sound.push(piece);
    await setImmediate();
  }
  return sound.seconds;
}

const UNMEASURABLE: AudioLength = { seconds: undefined, how: 'unmeasurable' };

function lengthOf(seconds: number | undefined, least: number): AudioLength {
  if (!seconds || !Number.isFinite(seconds) || seconds < 0) return UNMEASURABLE;
  const isBounded = seconds + BESIDE_SECONDS < least;
  const length = Math.round((isBounded ? least : seconds) * 1e6) / 1e6;
  return { seconds: length, how: isBounded ? 'bounded' : 'measured' };
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
/** Most chunks before the audio; a genuine file has a few. */
const MAX_CHUNKS = 100;
/** Format tag of an extensible chunk, which names the codec later. */
const EXTENSIBLE = 0xfffe;
/** Bits per sample by format tag (RFC 2361) of ADPCM (Microsoft; IMA and DVI). */
const ADPCM_BITS: Readonly<Record<number, number>> = { 2: 4, 17: 4 };
/** Format tags of codecs whose fixed bits per sample are in the header: PCM, float, A-law, mu-law. */
const PLAIN: ReadonlySet<number> = new Set([1, 3, 6, 7]);
/** Sizes of a `data` chunk that mean "to the end of the file": live recorders write the header first. */
const OPEN_SIZES: ReadonlySet<number> = new Set([0, 0xffff_ffff]);

/**
 * Length of a WAV file: its `data` chunk by rate, channels and bits of the `fmt ` chunk, and at least all bytes from
 * there. Unmeasurable with any other codec.
 */
async function wave(audio: ByteSource, start: number): Promise<AudioLength> {
  let bytesPerSecond = 0;
  let at = start + 12;
  for (let chunks = 0; chunks < MAX_CHUNKS; chunks++) {
    const head = await audio.read(at, at + CHUNK_HEAD_BYTES + FORMAT_BYTES);
    if (head.length < CHUNK_HEAD_BYTES) break;
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    at += CHUNK_HEAD_BYTES;
    if (name === 'fmt ' && head.length >= CHUNK_HEAD_BYTES + 16)
      bytesPerSecond = waveRate(head.subarray(CHUNK_HEAD_BYTES));
    else if (name === 'data') {
      const left = audio.size - at;
      const stated = OPEN_SIZES.has(size) ? left : Math.min(size, left);
      return lengthOf(stated / bytesPerSecond, left / bytesPerSecond);
    }
    at += size + (size % 2);
  }
  return UNMEASURABLE;
}

/** Bytes per second; 0 for an unknown codec. Some decoders use the bits, others the block size: the smaller counts. */
function waveRate(chunk: Buffer): number {
  const stated = chunk.readUInt16LE(0);
  const tag = stated === EXTENSIBLE && chunk.length >= FORMAT_BYTES ? chunk.readUInt16LE(24) : stated;
  const channels = chunk.readUInt16LE(2);
  const rate = chunk.readUInt32LE(4);
  const block = chunk.readUInt16LE(12);
  const adpcm = ADPCM_BITS[tag];
  if (adpcm !== undefined) return (channels * rate * adpcm) / 8;
  if (!PLAIN.has(tag)) return 0;
  const frame = channels * Math.max(1, Math.ceil(chunk.readUInt16LE(14) / 8));
  return (block > 0 ? Math.min(frame, block) : frame) * rate;
}
