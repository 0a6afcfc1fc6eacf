import { setImmediate } from 'node:timers/promises';
import { type ByteSource, WINDOW_BYTES } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { FRAME_HEAD_BYTES, type Frame, frameAt } from './frame.ts';

/** Bound of the places where no frame of the stream's kind begins. No honest file has as many, and each costs time. */
const MAX_FALSE_FRAMES = 100_000;
/** Frames of one kind in a row that prove a stream which begins after other bytes; a single one can be chance. */
const SURE_FRAMES = 3;

/**
 * Offset of the first frame of MPEG audio (MP3) or ADTS, at `from` or at most one window (256 KiB) after it; undefined
 * where there is none. At `from` itself two frames in a row are enough, or one that ends the file.
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
 * the first, others play it: it is counted, and the bytes inside it are searched for frames as well. Undefined where
 * there are too many such places, or where a frame is long enough to hide others inside (`isOversized`).
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
