import { FLAC_HEAD_BYTES, flacFrameAt } from './flac.ts';
import { AAC_CHANNEL_BYTES, AAC_RATES, AAC_SAMPLES, frameAt } from './frame.ts';

/** A codec as a container carries it: in packets. */
export interface PacketCodec {
  /** Seconds of the packet that begins with `head` and has `bytes` in all, or more; undefined: they cannot be told. */
  seconds(head: Buffer, bytes: number): number | undefined;
  /** What it counts is more than there is, in honest files too. */
  readonly isBound?: boolean;
}

/** Number of bytes at the start of a packet that a codec here looks at, at most. */
export const PACKET_HEAD_BYTES = FLAC_HEAD_BYTES;

const OPUS_HZ = 48_000;
/** RFC 6716: a packet lasts 120 ms at most. */
const OPUS_MOST_SAMPLES = 5_760;

/** RFC 6716, section 3.1: the first byte tells the length of a frame, and with the second the number of frames. */
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
 * Vorbis, by its identification header: undefined where that is none. Which of its two block sizes a packet has stands
 * behind codebooks that take a decoder to read: the larger one counts for all.
 */
export function vorbis(identification: Buffer): PacketCodec | undefined {
  if (identification.length < 30 || identification.toString('latin1', 0, 7) !== '\x01vorbis')
    return undefined;
  const rate = identification.readUInt32LE(12);
  const sizes = identification.readUInt8(28);
  if (rate === 0) return undefined;
  const most = 2 ** Math.max(sizes >> 4, sizes & 15) / 2 / rate;
  // Headers have odd first bytes.
  return { seconds: ([first = 1]) => (first & 1 ? 0 : most), isBound: true };
}

export function flac(streamRate: number): PacketCodec {
  return { seconds: (head) => flacFrameAt(head, 0, streamRate)?.seconds ?? 0 };
}

/** Layers I to III of MPEG audio: a packet can hold several frames. */
export const mpegAudio: PacketCodec = {
  seconds(head, bytes) {
    const frame = frameAt(head, 0);
    return frame ? frame.seconds * Math.ceil(bytes / frame.bytes) : undefined;
  },
};

/** A packet of AAC is a block of 1,024 samples; where it is longer than a block can be, it holds more of them. */
export function aac({ rate, channels }: AacConfig): PacketCodec {
  return {
    seconds: (_head, bytes) => (bytes > channels * AAC_CHANNEL_BYTES ? undefined : AAC_SAMPLES / rate),
  };
}

export function pcm(bytesPerSecond: number): PacketCodec | undefined {
  return bytesPerSecond > 0 ? { seconds: (_head, bytes) => bytes / bytesPerSecond } : undefined;
}

export interface AacConfig {
  readonly rate: number;
  readonly channels: number;
}

/** Object types whose blocks have at most 1,024 samples of the rate that the configuration names first. */
const AAC_TYPES: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 17, 23, 29]);
const EXPLICIT_RATE = 15;

/** The start of an AudioSpecificConfig (ISO 14496-3, 1.6.2.1); undefined where it is none, or of another codec. */
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
