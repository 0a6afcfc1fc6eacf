import { setImmediate } from 'node:timers/promises';
import { type IFormat, parseFromTokenizer } from 'music-metadata';
import { fromBuffer } from 'strtok3';
import { isMpegAudio, mpegSeconds } from './mpeg-seconds.ts';

/** Reads between which others get their turn: about 2 ms. */
const READS_A_TURN = 1_000;
/** An hour of Ogg takes 11,000; a file made of empty pages would hold a core for seconds. */
const MAX_READS = 200_000;

/**
 * How long a piece of audio lasts, in seconds, as a decoder would find it; undefined where that cannot be told.
 *
 * MP3 is counted frame by frame here: the parser believes the frame count that a file states of itself, or guesses from
 * the first frames, and one that states less than it holds would be transcribed for less than it costs. A WAV header can
 * state more than the file holds (recorders that stream write 2³²−1): then the bytes count. In the other formats (FLAC, Ogg,
 * MP4, WebM) the length is what the container states.
 */
export async function audioSeconds(audio: Buffer): Promise<number | undefined> {
  if (isMpegAudio(audio)) return mpegSeconds(audio);
  const { container, duration, bitrate } = await formatOf(audio);
  // An MPEG stream that is not what isMpegAudio takes for one: a guess, not a measure.
  if (container === 'MPEG' || duration === undefined || !Number.isFinite(duration) || duration <= 0) {
    return undefined;
  }
  if (container === 'WAVE' && bitrate) return Math.min(duration, (audio.length * 8) / bitrate);
  return duration;
}

async function formatOf(audio: Buffer): Promise<Partial<IFormat>> {
  const tokenizer = patientTokenizer(audio);
  try {
    return (await parseFromTokenizer(tokenizer, { duration: true, skipCovers: true, skipPostHeaders: true }))
      .format;
  } catch {
    // No audio, or none that the parser knows; the upstream may know better.
    return {};
  }
}

/** The parser awaits what is there already, so it would never let go of the process by itself. */
function patientTokenizer(audio: Buffer): ReturnType<typeof fromBuffer> {
  const tokenizer = fromBuffer(audio);
  const { readBuffer } = tokenizer;
  let reads = 0;
  tokenizer.readBuffer = async (...args) => {
    if (++reads > MAX_READS) throw new RangeError('audio in too many pieces');
    if (reads % READS_A_TURN === 0) await setImmediate();
    return await readBuffer.apply(tokenizer, args);
  };
  return tokenizer;
}
