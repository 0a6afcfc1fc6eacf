import { FLAC_HEAD_BYTES, flacFrameAt } from './flac.ts';
import { AAC_CHANNEL_BYTES, AAC_RATES, AAC_SAMPLES, frameAt } from './frame-stream.ts';

/** Length of a codec's packets, as Ogg and Matroska carry them. */
export interface PacketCodec {
  /**
   * Seconds, or an upper bound, of the packet that begins with `head` and has `bytes` in total; undefined if unbounded.
   */
  seconds(head: Buffer, bytes: number): number | undefined;
  /** `seconds` is only an upper bound even in genuine files. */
  readonly isBound?: boolean;
}

/** Most bytes at the start of a packet that any codec needs as `head`. */
export const PACKET_HEAD_BYTES = FLAC_HEAD_BYTES;

const OPUS_HZ = 48_000;
/** Samples of the longest Opus packet: 120 ms at 48 kHz (RFC 6716, section 3.2). */
const OPUS_MOST_SAMPLES = 5_760;

/**
 * Opus (RFC 6716, section 3). A packet's first byte gives the frame length and whether there are one or two frames; for
 * more, the second byte gives their number.
 */
export const opus: PacketCodec = {
  seconds([toc, count], bytes) {
    if (toc === undefined || bytes === 0) return 0;
    const config = toc >> 3;
    const frame =
      config < 12
        ? ([480, 960, 1_920, 2_880][config & 3] as number)
        : config < 16
          ? 480 << (config & 1)
          : 120 << (config & 3);
    const code = toc & 3;
    const frames = code === 3 ? (count ?? 0) & 63 : code === 0 ? 1 : 2;
    return Math.min(frame * frames, OPUS_MOST_SAMPLES) / OPUS_HZ;
  },
};

export const OPUS_MOST_SECONDS = OPUS_MOST_SAMPLES / OPUS_HZ;

/**
 * Vorbis, configured by its identification header; undefined if the header is invalid. A packet has one of two block
 * sizes. Telling them apart requires decoding the codebooks, so every packet counts as the larger size.
 */
export function vorbis(identification: Buffer): PacketCodec | undefined {
  if (identification.length < 30 || identification.toString('latin1', 0, 7) !== '\x01vorbis')
    return undefined;
  const rate = identification.readUInt32LE(12);
  const sizes = identification.readUInt8(28);
  if (rate === 0) return undefined;
  const most = 2 ** Math.max(sizes >> 4, sizes & 15) / 2 / rate;
  // A packet with an odd first byte is a header without audio.
  return { seconds: ([first = 1]) => (first & 1 ? 0 : most), isBound: true };
}

/** FLAC, one frame per packet; `streamRate` in Hz from STREAMINFO. A packet without a frame header is metadata. */
export function flac(streamRate: number): PacketCodec {
  return { seconds: (head) => flacFrameAt(head, 0, streamRate)?.seconds ?? 0 };
}

/** MPEG audio, layers I to III. A packet holds as many frames as fit, all as long as the first. */
export const mpegAudio: PacketCodec = {
  seconds(head, bytes) {
    const frame = frameAt(head, 0);
    return frame ? frame.seconds * Math.ceil(bytes / frame.bytes) : undefined;
  },
};

/** AAC, one block of 1,024 samples per packet. A packet larger than a block may hold several: no bound. */
export function aac({ rate, channels }: AacConfig): PacketCodec {
  return {
    seconds: (_head, bytes) => (bytes > channels * AAC_CHANNEL_BYTES ? undefined : AAC_SAMPLES / rate),
  };
}

interface AacConfig {
  /** Sample rate in Hz. */
  readonly rate: number;
  readonly channels: number;
}

/**
 * Audio object types with blocks of at most 1,024 samples, at the first rate in the configuration (spectral band
 * replication adds a second, higher rate).
 */
const AAC_TYPES: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 17, 23, 29]);
const EXPLICIT_RATE = 15;

/**
 * Rate and channels from the start of an AudioSpecificConfig (ISO 14496-3, 1.6.2.1); undefined if invalid or of a type
 * outside `AAC_TYPES`. Channel configuration 0 counts as 8, the maximum.
 */
export function aacConfig(config: Buffer): AacConfig | undefined {
  if (config.length < 2) return undefined;
  const first = config.readUInt16BE(0);
  const index = (first >> 7) & 15;
  const isExplicit = index === EXPLICIT_RATE;
  if (!AAC_TYPES.has(first >> 11) || (isExplicit && config.length < 5)) return undefined;
  const rate = isExplicit ? (config.readUInt32BE(1) >>> 7) & 0xff_ffff : AAC_RATES[index];
  const channels = isExplicit ? (config.readUInt8(4) >> 3) & 15 : (first >> 3) & 15;
  return rate ? { rate, channels: channels || 8 } : undefined;
}
