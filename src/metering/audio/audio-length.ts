/**
 * Length of an uploaded audio file, and how far it can be trusted. Clients are charged by it, and may forge the file.
 */
export interface AudioLength {
  /**
   * Seconds, never fewer than any decoder plays of the file; undefined if the walk through the file gives no bound.
   * One gap is known: AAC frames hidden inside AAC frames of legal size (docs/guarantees.md).
   */
  readonly seconds: number | undefined;
  /**
   * - `measured`: counted in the audio, and the header states no length or agrees with the count. Charged as exact.
   * - `bounded`: at least that of the audio, perhaps more. Charged as an estimate.
   * - `unmeasurable`: a known container whose content could not be counted. Its size gives no bound either, because
   *   some codecs write an hour of silence in a few kilobytes.
   * - `unknown`: no format that is known here.
   */
  readonly how: 'measured' | 'bounded' | 'unmeasurable' | 'unknown';
}

/** Result of a walk through a file: the length counted in its frames, packets or samples, and the one in its header. */
export interface Walked {
  /** Counted seconds: of everything that some decoder could find in the file, or more. */
  readonly seconds: number;
  /** Seconds that the header states; undefined if it states none. */
  readonly stated?: number | undefined;
  /** True if `seconds` is larger than the real length in honest files too, such as Vorbis (see `PacketCodec`). */
  readonly isBound?: boolean;
}

/** Bound of the tokens of a second of audio: Whisper's encoder makes 50, Gemini 32, OpenAI's other models 10. */
export const AUDIO_TOKENS_PER_SECOND = 50;

/**
 * Seconds by which count and header may differ in an honest file: encoders pad the first and the last packet, headers
 * leave that padding out, and it is always shorter than this.
 */
const PADDING_SECONDS = 0.25;
/**
 * Share of the count by which it may exceed the header besides: compressed bytes can look like a frame header by
 * chance.
 */
const STRAY_SHARE = 0.005;

export const UNMEASURABLE: AudioLength = { seconds: undefined, how: 'unmeasurable' };
export const UNKNOWN: AudioLength = { seconds: undefined, how: 'unknown' };

/**
 * The length to charge for. The header is believed only if the count agrees, because it can be edited freely and
 * decoders ignore it; otherwise the larger of the two is the bound. Unmeasurable if the walk failed (undefined) or
 * counted nothing.
 */
export function lengthOf(walked: Walked | undefined): AudioLength {
  if (!walked || !Number.isFinite(walked.seconds)) return UNMEASURABLE;
  const { seconds, stated, isBound } = walked;
  const isStated = stated !== undefined && Number.isFinite(stated) && stated > 0;
  const tolerance = PADDING_SECONDS + seconds * STRAY_SHARE;
  if (isStated && Math.abs(stated - seconds) <= tolerance)
    return { seconds: rounded(stated), how: 'measured' };
  const longest = Math.max(seconds, isStated ? stated : 0);
  // A container in which no audio was found may hold some that only a decoder finds.
  if (longest <= 0) return UNMEASURABLE;
  return { seconds: rounded(longest), how: isStated || isBound ? 'bounded' : 'measured' };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
