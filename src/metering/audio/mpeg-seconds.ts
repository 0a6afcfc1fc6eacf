import { type ByteSource, WINDOW_BYTES } from '../byte-source.ts';

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

/** Junk that begins like a frame; more of it is no honest file, and looking at it takes time. */
const MAX_FALSE_FRAMES = 100_000;
/** Tags that stand one after the other; an honest file has one or two. */
const MAX_TAGS = 16;

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/** The MPEG audio frame whose header stands there; undefined where none does. */
function frameAt(audio: Buffer, at: number): Frame | undefined {
  if (at + 4 > audio.length || audio[at] !== 0xff) return undefined;
  const second = audio[at + 1] as number;
  const third = audio[at + 2] as number;
  if ((second & 0xe0) !== 0xe0) return undefined;
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
  return { bytes, seconds: samples / rate };
}

/** Where the frames begin: after the ID3v2 tags that may stand in front. */
async function tagsEnd(audio: ByteSource): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const head = await audio.read(at, at + 10);
    if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') break;
    const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6);
    const hasFooter = ((head[5] as number) & 0x10) !== 0;
    at +=
      10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f)) + (hasFooter ? 10 : 0);
  }
  return at;
}

/** Where the frames of a stream of MPEG audio (MP3) begin; undefined: it is none, as two frames must stand there. */
export async function mpegStart(audio: ByteSource): Promise<number | undefined> {
  const start = await tagsEnd(audio);
  const first = frameAt(await audio.read(start, start + 4), 0);
  if (!first) return undefined;
  const next = start + first.bytes;
  const isOne = next >= audio.size || frameAt(await audio.read(next, next + 4), 0) !== undefined;
  return isOne ? start : undefined;
}

/**
 * Seconds of MPEG audio: the sum of its frames from `start` on, whatever a header says of their number (a frame of
 * headers counts as sound, 26 ms too much). Between frames that do not touch, the next sync is looked for, as decoders do.
 * Undefined where there is too much else between them.
 */
export async function mpegSeconds(audio: ByteSource, start: number): Promise<number | undefined> {
  let seconds = 0;
  let falseFrames = 0;
  for (let from = start; from < audio.size; ) {
    const window = await audio.read(from, from + WINDOW_BYTES);
    // A header that the window cuts is looked at with the next one.
    const end = from + window.length < audio.size ? window.length - 3 : window.length;
    let at = 0;
    while (at < end) {
      const frame = frameAt(window, at);
      if (frame) {
        seconds += frame.seconds;
        at += frame.bytes;
      } else {
        if (++falseFrames > MAX_FALSE_FRAMES) return undefined;
        const sync = window.indexOf(0xff, at + 1);
        at = sync < 0 || sync > end ? end : sync;
      }
    }
    from += at;
  }
  return Math.round(seconds * 1e6) / 1e6;
}
