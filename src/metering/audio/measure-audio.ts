import type { ByteSource } from '../byte-source.ts';
import { type AudioLength, lengthOf, UNKNOWN, UNMEASURABLE, type Walked } from './audio-length.ts';
import { flacWalked } from './flac.ts';
import { framesSeconds, framesStart } from './frame-stream.ts';
import { id3End } from './id3-end.ts';
import { matroskaWalked } from './matroska.ts';
import { mp4Walked } from './mp4.ts';
import { oggWalked } from './ogg.ts';
import { waveWalked } from './wave.ts';

/** The formats that can be measured, for people. */
export const MEASURED_FORMATS = 'FLAC, M4A, MP3, MP4, OGG, WAV, WEBM or AAC with ADTS headers';

type Walk = (audio: ByteSource, start: number) => Promise<Walked | undefined>;

/** Containers by what stands in them at an offset; without a walk: known, and not measurable. First match. */
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
  // AVI, AIFF, CAF, AU, Wave64, AMR, ASF, FLV, MPEG program streams, WavPack, Monkey's Audio, True Audio, Musepack, DSD.
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
 * How long a piece of audio lasts: counted in its frames, packets, blocks or samples, because headers can state
 * anything and decoders play what is there.
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
