/** How long a piece of audio lasts, and how that is known. */
export interface AudioLength {
  /** Never less than what a decoder plays of it; undefined where nothing bounds it but its size. */
  readonly seconds: number | undefined;
  /**
   * measured: counted in the audio itself, and what the file states of itself does not contradict it. bounded: no less
   * than what the audio holds, but perhaps more. unmeasurable: a known container whose content cannot be counted, as
   * its size says nothing: some codecs write an hour in a few kilobytes. unknown: nothing that is known here.
   */
  readonly how: 'measured' | 'bounded' | 'unmeasurable' | 'unknown';
}

/** Length of a container by its frames, packets or samples, and the length that its headers state. */
export interface Walked {
  /** Seconds of all that a decoder can find in it, or more. */
  readonly seconds: number;
  /** Seconds that its header states; undefined: it states none. */
  readonly stated?: number | undefined;
  /** The count is a bound by its nature, though the header does not contradict it. */
  readonly isBound?: boolean;
}

/** Encoders pad the first and last packets, which decoders cut: by less than this, in seconds. */
const PADDING_SECONDS = 0.25;
/** A chance byte in compressed audio can look like the head of a frame. */
const STRAY_SHARE = 0.005;

export const UNMEASURABLE: AudioLength = { seconds: undefined, how: 'unmeasurable' };
export const UNKNOWN: AudioLength = { seconds: undefined, how: 'unknown' };

/**
 * A header costs nothing to edit and decoders ignore it, so it is believed only where the count agrees; otherwise the
 * larger of both is the bound. Undefined, or a count of nothing: the container could not be walked.
 */
export function lengthOf(walked: Walked | undefined): AudioLength {
  if (!walked || !Number.isFinite(walked.seconds)) return UNMEASURABLE;
  const { seconds, stated, isBound } = walked;
  const isStated = stated !== undefined && Number.isFinite(stated) && stated > 0;
  const tolerance = PADDING_SECONDS + seconds * STRAY_SHARE;
  if (isStated && Math.abs(stated - seconds) <= tolerance)
    return { seconds: rounded(stated), how: 'measured' };
  const longest = Math.max(seconds, isStated ? stated : 0);
  // A container around nothing, as what it holds was not found.
  if (longest <= 0) return UNMEASURABLE;
  return { seconds: rounded(longest), how: isStated || isBound ? 'bounded' : 'measured' };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
