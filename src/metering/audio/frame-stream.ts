import { setImmediate } from 'node:timers/promises';
import { type ByteSource, WINDOW_BYTES } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';

/** Bound of the places where no frame of the stream's kind begins. No honest file has as many, and each costs time. */
const MAX_FALSE_FRAMES = 100_000;
/** Frames of one kind in a row that prove a stream which begins after other bytes; a single one can be chance. */
const SURE_FRAMES = 3;

/**
 * Offset of the first frame of MPEG audio (MP3) or ADTS, at `from` or at most one window (256 KiB) after it; undefined
 * if there is none. At `from` itself two frames in a row are enough, or one that ends the file.
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
 * Seconds of all frames from `start` on. The number of frames in a Xing or VBRI header is not believed; the frame which
 * carries that header counts as sound, which is 26 ms too much.
 *
 * Decoders skip bytes between frames until the next sync, so this does too. Some also skip a frame of another kind than
 * the first, others play it: it is counted, and the bytes inside it are searched for frames as well. Undefined if
 * there are too many such places, or if a frame is long enough to hide others inside (`isOversized`).
 */
export async function framesSeconds(audio: ByteSource, start: number): Promise<Walked | undefined> {
  let seconds = 0;
  let falseFrames = 0;
  let kind: number | undefined;
  for (let from = start; from < audio.size; ) {
    const window = await audio.read(from, from + WINDOW_BYTES);
    // A header that the window cuts in two is read with the next window.
    const end = from + window.length < audio.size ? window.length - FRAME_HEAD_BYTES + 1 : window.length;
    let at = 0;
    while (at < end) {
      const frame: Frame | undefined = frameAt(window, at);
      if (frame && (kind ?? frame.kind) === frame.kind) {
        if (frame.isOversized) return undefined;
        kind = frame.kind;
        seconds += frame.seconds;
        at += frame.bytes;
      } else {
        if (++falseFrames > MAX_FALSE_FRAMES) return undefined;
        if (frame) seconds += frame.seconds;
        const sync = window.indexOf(0xff, at + 1);
        at = sync < 0 || sync > end ? end : sync;
      }
    }
    from += at;
    await setImmediate();
  }
  return { seconds };
}

/**
 * Bit rates in kbit/s by layer (I, II, III) and bitrate index: `one` for MPEG 1 (ISO 11172-3), `two` for MPEG 2 and 2.5
 * (ISO 13818-3).
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
/** Sample rates of MPEG 1 in Hz by index; MPEG 2 has half of each, MPEG 2.5 a quarter. */
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** A frame of a stream that needs no container: MPEG audio (MP3), or AAC with ADTS headers. */
interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  /** Format, layer and sample rate in one number, which is equal for all frames of one stream. */
  readonly kind: number;
  /** True if the frame has more bytes than its format needs, so that other frames could hide inside it. */
  readonly isOversized?: boolean;
}

/** Bytes of the longest header: 7 of ADTS; MPEG audio has 4. */
export const FRAME_HEAD_BYTES = 7;

/** The frame whose header is at `at`; undefined if the bytes there are no header. */
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

/** Sample rates of AAC in Hz by index (ISO 14496-3, 1.6.3.4). */
export const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;
/** Samples of one block of AAC. */
export const AAC_SAMPLES = 1_024;
/** Bytes of the longest block of AAC, for each channel: 6,144 bits. A longer one holds something besides. */
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
  // 0 refers to a description inside the first block, which is not parsed: the most channels possible, 8, are assumed.
  const channels = ((third & 1) << 2) | (fourth >> 6) || 8;
  return {
    bytes,
    seconds: (blocks * AAC_SAMPLES) / rate,
    kind: (1 << 16) | ((second & 0x08) << 8) | (third & 0xfc),
    isOversized: bytes - 9 > blocks * channels * AAC_CHANNEL_BYTES,
  };
}
