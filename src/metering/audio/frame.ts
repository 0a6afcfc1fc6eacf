/** ISO 11172-3 and 13818-3: kbit/s by bitrate index, for MPEG 1 layers I, II, III and MPEG 2 layers I, II and III. */
const BITRATES = {
  one: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  two: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** A frame of a stream that needs no container: MPEG audio (MP3), or AAC with ADTS headers. */
export interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  /** Format and sampling rate as one number, which all frames of one stream share. */
  readonly kind: number;
  /** Set where the frame is longer than its format allows: it can hold others. */
  readonly isOversized?: boolean;
}

/** Bytes of the longest header. */
export const FRAME_HEAD_BYTES = 7;

/** The frame whose header stands there; undefined where none does. */
export function frameAt(audio: Buffer, at: number): Frame | undefined {
  if (audio[at] !== 0xff || at + 4 > audio.length) return undefined;
  const second = audio[at + 1] as number;
  if ((second & 0xf6) === 0xf0) return adtsFrameAt(audio, at);
  return (second & 0xe0) === 0xe0 ? mpegFrameAt(second, audio[at + 2] as number) : undefined;
}

function mpegFrameAt(second: number, third: number): Frame | undefined {
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const baseRate = SAMPLE_RATES[(third >> 2) & 3];
  // Version 1 and layer 4 are reserved.
  if (version === 1 || layer === 4 || baseRate === undefined) return undefined;
  const isOne = version === 3;
  const kbits = (isOne ? BITRATES.one : BITRATES.two)[layer - 1]?.[third >> 4];
  // Index 0 is "free format", whose frame length is not in the header; 15 is forbidden.
  if (!kbits) return undefined;
  const rate = isOne ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const padding = (third >> 1) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && !isOne ? 576 : 1_152;
  const bytes =
    layer === 1
      ? (Math.floor((12_000 * kbits) / rate) + padding) * 4
      : Math.floor((samples * 125 * kbits) / rate) + padding;
  return { bytes, seconds: samples / rate, kind: ((second & 0x1e) << 8) | (third & 0x0c) };
}

/** ISO 14496-3: sample rates by index. */
export const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;
export const AAC_SAMPLES = 1_024;
/** A block of AAC has at most 6,144 bits for each channel. */
export const AAC_CHANNEL_BYTES = 768;

function adtsFrameAt(audio: Buffer, at: number): Frame | undefined {
  if (at + FRAME_HEAD_BYTES > audio.length) return undefined;
  const [, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = audio.subarray(
    at,
    at + FRAME_HEAD_BYTES,
  );
  const rate = AAC_RATES[(third >> 2) & 15];
  const bytes = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
  if (rate === undefined || bytes < FRAME_HEAD_BYTES) return undefined;
  const blocks = (seventh & 3) + 1;
  // 0: the channels stand in the first block; then as many as there can be.
  const channels = ((third & 1) << 2) | (fourth >> 6) || 8;
  return {
    bytes,
    seconds: (blocks * AAC_SAMPLES) / rate,
    kind: (1 << 16) | ((second & 0x08) << 8) | (third & 0xfc),
    isOversized: bytes - 9 > blocks * channels * AAC_CHANNEL_BYTES,
  };
}
