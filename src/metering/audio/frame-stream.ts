import { type ByteSource, WINDOW_BYTES } from '../byte-source.ts';

/** Consecutive frames of one kind that prove a stream after other bytes; a single one can be chance. */
const SURE_FRAMES = 3;

/**
 * Offset of the first MPEG audio (MP3) or ADTS frame, at `from` or at most one window (256 KiB) later; undefined if
 * none. At `from` itself, two consecutive frames suffice, or one that ends the file.
 */
export async function framesStart(audio: ByteSource, from: number): Promise<number | undefined> {
  const window = await audio.read(from, from + WINDOW_BYTES);
  if (chainedFrames(window, 0, 2, from + window.length >= audio.size)) return from;
  for (let at = window.indexOf(0xff, 1); at >= 0; at = window.indexOf(0xff, at + 1)) {
    if (chainedFrames(window, at, SURE_FRAMES, false)) return from + at;
  }
  return undefined;
}

function chainedFrames(window: Buffer, start: number, count: number, mayEnd: boolean): boolean {
  const first = frameAt(window, start);
  if (!first) return false;
  let at = start + first.bytes;
  for (let found = 1; found < count; found++) {
    if (mayEnd && at >= window.length) return true;
    const frame = frameAt(window, at);
    if (frame?.kind !== first.kind) return false;
    at += frame.bytes;
  }
  return true;
}

/**
 * Bit rates in kbit/s by layer (I, II, III) and index: `one` for MPEG 1 (ISO 11172-3), `two` for MPEG 2 and 2.5 (ISO
 * 13818-3).
 */
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
/** MPEG 1 sample rates in Hz by index; MPEG 2 has half of each, MPEG 2.5 a quarter. */
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** A frame of a stream without a container: MPEG audio (MP3), or AAC with ADTS headers. */
interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  /** Format, layer and sample rate as one number, equal for all frames of a stream. */
  readonly kind: number;
}

/** Longest header: 7 bytes for ADTS; MPEG audio has 4. */
export const FRAME_HEAD_BYTES = 7;

/** The frame whose header is at `at`; undefined without a valid header. */
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
  // Index 0 is "free format", without a frame length in the header; 15 is forbidden.
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

/** AAC sample rates in Hz by index (ISO 14496-3, 1.6.3.4). */
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;
/** Samples per AAC block. */
const AAC_SAMPLES = 1_024;

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
  return {
    bytes,
    seconds: (blocks * AAC_SAMPLES) / rate,
    kind: (1 << 16) | ((second & 0x08) << 8) | (third & 0xfc),
  };
}
