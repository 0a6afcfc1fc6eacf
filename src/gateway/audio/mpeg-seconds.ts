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

/** After the ID3v2 tags that may stand in front. */
function tagsEnd(audio: Buffer): number {
  let at = 0;
  while (at + 10 <= audio.length && audio.toString('latin1', at, at + 3) === 'ID3') {
    const [a = 0, b = 0, c = 0, d = 0] = audio.subarray(at + 6, at + 10);
    const hasFooter = ((audio[at + 5] as number) & 0x10) !== 0;
    at +=
      10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f)) + (hasFooter ? 10 : 0);
  }
  return at;
}

/** Whether it is a stream of MPEG audio (MP3): it begins, after tags, with two frames. */
export function isMpegAudio(audio: Buffer): boolean {
  const start = tagsEnd(audio);
  const first = frameAt(audio, start);
  if (!first) return false;
  const next = start + first.bytes;
  return next >= audio.length || frameAt(audio, next) !== undefined;
}

/**
 * Seconds of MPEG audio: the sum of its frames, whatever a header says of their number (a frame of headers counts as
 * sound, 26 ms too much). Between frames that do not touch, the next sync is looked for, as decoders do.
 * Undefined where there is too much else between them.
 */
export function mpegSeconds(audio: Buffer): number | undefined {
  let seconds = 0;
  let falseFrames = 0;
  let at = tagsEnd(audio);
  while (at >= 0 && at < audio.length) {
    const frame = frameAt(audio, at);
    if (frame) {
      seconds += frame.seconds;
      at += frame.bytes;
    } else {
      if (++falseFrames > MAX_FALSE_FRAMES) return undefined;
      at = audio.indexOf(0xff, at + 1);
    }
  }
  return Math.round(seconds * 1e6) / 1e6;
}
