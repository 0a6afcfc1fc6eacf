/** Length of an uploaded audio file, and how far to trust it. Clients are charged by it, and may forge the file. */
export interface AudioLength {
  /**
   * Seconds, never fewer than any decoder plays; undefined if the walk gives no bound. Known gap: AAC frames hidden
   * inside AAC frames of legal size (docs/guarantees.md).
   */
  readonly seconds: number | undefined;
  /**
   * - `measured`: counted in the audio, and the header states no length or agrees with the count. Charged as exact.
   * - `bounded`: at least that of the audio, perhaps more. Charged as an estimate.
   * - `unmeasurable`: a known container whose content could not be counted. Its size gives no bound either, because
   *   some codecs write an hour of silence in a few kilobytes.
   * - `unknown`: not a known format.
   */
  readonly how: 'measured' | 'bounded' | 'unmeasurable' | 'unknown';
}

/** Result of a walk: the length counted in frames, packets or samples, and the length in the header. */
export interface Walked {
  /** Counted seconds: at least everything that any decoder could find. */
  readonly seconds: number;
  /** Seconds in the header; undefined if absent. */
  readonly stated?: number | undefined;
  /** `seconds` exceeds the real length even in genuine files, as with Vorbis (see `PacketCodec`). */
  readonly isBound?: boolean;
}

/** Bound of the tokens per second of audio: Whisper's encoder makes 50, Gemini 32, OpenAI's other models 10. */
export const AUDIO_TOKENS_PER_SECOND = 50;

/**
 * Tolerated difference between count and header in seconds: encoders pad the first and last packet, headers exclude the
 * padding, and it is always shorter than this.
 */
const PADDING_SECONDS = 0.25;
/** Further share of the count that may exceed the header: compressed bytes can look like a frame header by chance. */
const STRAY_SHARE = 0.005;

export const UNMEASURABLE: AudioLength = { seconds: undefined, how: 'unmeasurable' };
export const UNKNOWN: AudioLength = { seconds: undefined, how: 'unknown' };

/**
 * Length to charge. The header counts only if the count agrees, because anyone can edit it and decoders ignore it;
 * otherwise the larger one is the bound. Unmeasurable if the walk failed (undefined) or counted nothing.
 */
export function lengthOf(walked: Walked | undefined): AudioLength {
  if (!walked || !Number.isFinite(walked.seconds)) return UNMEASURABLE;
  const { seconds, stated, isBound } = walked;
  const isStated = stated !== undefined && Number.isFinite(stated) && stated > 0;
  const tolerance = PADDING_SECONDS + seconds * STRAY_SHARE;
  if (isStated && Math.abs(stated - seconds) <= tolerance)
    return { seconds: rounded(stated), how: 'measured' };
  const longest = Math.max(seconds, isStated ? stated : 0);
  // A container without audio found may hold some that only a decoder finds.
  if (longest <= 0) return UNMEASURABLE;
  return { seconds: rounded(longest), how: isStated || isBound ? 'bounded' : 'measured' };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
