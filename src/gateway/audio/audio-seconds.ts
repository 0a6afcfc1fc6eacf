import type { IFormat } from 'music-metadata';
import type { ByteSource } from '../upload/byte-source.ts';
import { mpegSeconds, mpegStart } from './mpeg-seconds.ts';

/**
 * How long a piece of audio lasts, in seconds, as a decoder would find it; undefined where that cannot be told.
 *
 * MP3 is counted frame by frame here: the parser believes the frame count that a file states of itself, or guesses from
 * the first frames, and one that states less than it holds would be transcribed for less than it costs. A WAV header can
 * state more than the file holds (recorders that stream write 2³²−1): then the bytes count. In the other formats (FLAC, Ogg,
 * MP4, WebM) the length is what the container states.
 */
export async function audioSeconds(audio: ByteSource): Promise<number | undefined> {
  const start = await mpegStart(audio);
  if (start !== undefined) return await mpegSeconds(audio, start);
  const { container, duration, bitrate } = await formatOf(audio);
  // An MPEG stream that is not what mpegStart takes for one: a guess, not a measure.
  if (container === 'MPEG' || duration === undefined || !Number.isFinite(duration) || duration <= 0) {
    return undefined;
  }
  if (container === 'WAVE' && bitrate) return Math.min(duration, (audio.size * 8) / bitrate);
  return duration;
}

/** The parser is loaded with the first file that needs it: 90 modules, which most gateways never use. */
async function formatOf(audio: ByteSource): Promise<Partial<IFormat>> {
  const { parseFromTokenizer } = await import('music-metadata');
  const { SourceTokenizer } = await import('./source-tokenizer.ts');
  try {
    const options = { duration: true, skipCovers: true, skipPostHeaders: true };
    return (await parseFromTokenizer(new SourceTokenizer(audio), options)).format;
  } catch {
    // No audio, or none that the parser knows; the upstream may know better.
    return {};
  }
}
