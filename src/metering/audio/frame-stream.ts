import { setImmediate } from 'node:timers/promises';
import { type ByteSource, WINDOW_BYTES } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { FRAME_HEAD_BYTES, type Frame, frameAt } from './frame.ts';

/** Junk that begins like a frame; more of it is no honest file, and looking at it takes time. */
const MAX_FALSE_FRAMES = 100_000;
/** Frames of one kind that stand one after the other where a stream begins in the midst of something else. */
const SURE_FRAMES = 3;

/**
 * Where the frames of a stream of MPEG audio (MP3) or ADTS begin, at `from` or soon after it; undefined: it is none. At
 * `from` itself two frames must stand, as far as the file goes.
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
 * The sum of the frames from `start` on, whatever a header says of their number (a frame of headers counts as sound, 26
 * ms too much). Between frames that do not touch, the next sync is looked for, as decoders do. A frame of another kind
 * than the first is counted, but what stands inside of it is looked at too, as a decoder may pass over it. Undefined
 * where there is too much else between them, or where frames are so long that they can hold others.
 */
export async function framesSeconds(audio: ByteSource, start: number): Promise<Walked | undefined> {
  let seconds = 0;
  let falseFrames = 0;
  let kind: number | undefined;
  for (let from = start; from < audio.size; ) {
    const window = await audio.read(from, from + WINDOW_BYTES);
    // A header that the window cuts is looked at with the next one.
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
