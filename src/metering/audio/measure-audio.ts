import type { ByteSource } from '../byte-source.ts';
import { type AudioLength, lengthOf, UNKNOWN, UNMEASURABLE, type Walked } from './audio-length.ts';
import { flacWalked } from './flac.ts';
import { framesSeconds, framesStart } from './frame-stream.ts';
import { matroskaWalked } from './matroska.ts';
import { mp4Walked } from './mp4.ts';
import { oggWalked } from './ogg.ts';
import { waveWalked } from './wave.ts';

/** Names of the formats that can be measured, for the error that refuses another one. */
export const MEASURED_FORMATS = 'FLAC, M4A, MP3, MP4, OGG, WAV, WEBM or AAC with ADTS headers';

/** Walks a file that begins at `start`; resolves with undefined if its length cannot be bounded. */
type Walk = (audio: ByteSource, start: number) => Promise<Walked | undefined>;

/**
 * Containers by the bytes that identify them at an offset; the first match counts. One without a walk is known and not
 * measurable, and must not be taken for an unknown format, which is bounded by its size.
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
 * Length of an audio file, counted in its frames, packets or samples, because a header can state anything and decoders
 * play what is there. Specification section 5: a transcription is charged by the second, as the provider reports it,
 * else as bounded from the audio. Rejects if `audio` cannot be read.
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

/** Bound of the tags in a row that are skipped; an honest file has one or two. */
const MAX_TAGS = 16;

/** Offset of the first byte after the ID3v2 tags that may precede audio of any format; 0 if there are none. */
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
