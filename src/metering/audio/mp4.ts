import { ByteCursor, type ByteSource } from '../byte-source.ts';

/** Boxes with walked children (ISO 14496-12). */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'mvex', 'moof', 'traf']);
const HEAD_BYTES = 16;
/** Bytes read of a box's content, up to the last field needed. */
const FIELDS_BYTES = 32;

/** Flags of the optional fields of a fragment's head (`tfhd`) before the default duration, which is the fourth. */
const HEAD_FIELDS = [
  [0x1, 8],
  [0x2, 4],
] as const;
// Flags of a run of samples (`trun`): its own fields, and those of each sample, of four bytes each.
const RUN_FIELDS = [0x1, 0x4];
const HAS_DURATION = 0x100;
const HAS_DEFAULT_DURATION = 0x8;
const SAMPLE_FIELDS = [HAS_DURATION, 0x200, 0x400, 0x800];

interface Track {
  /** Units per second. */
  scale: number;
  /** Duration in its header. */
  stated: number;
  /** Duration of its fragments' samples, and the default of each sample. */
  inFragments: number;
  sample: number;
}

/**
 * Seconds of an MP4 or M4A file by its longest track: the duration in the track's header, or in its fragments, as
 * browsers record. 0 without either.
 */
export async function mp4Seconds(audio: ByteSource, start: number): Promise<number> {
  const cursor = new ByteCursor(audio, start);
  const tracks = new Map<number, Track>();
  const trackOf = (id: number) => {
    const track = tracks.get(id) ?? { scale: 0, stated: 0, inFragments: 0, sample: 0 };
    tracks.set(id, track);
    return track;
  };
  let track = trackOf(0);
  /** Default duration of the current fragment's samples. */
  let sample = 0;
  while (cursor.at + 8 <= cursor.size) {
    const wanted = HEAD_BYTES + FIELDS_BYTES;
    const bytes = cursor.peek(wanted) ?? (await cursor.load(wanted));
    const type = bytes.toString('latin1', 4, 8);
    const isLong = bytes.readUInt32BE(0) === 1 && bytes.length >= HEAD_BYTES;
    const size = isLong ? Number(bytes.readBigUInt64BE(8)) : bytes.readUInt32BE(0);
    const headBytes = isLong ? HEAD_BYTES : 8;
    // Size 0 means "to the end".
    if (size < headBytes) break;
    const end = cursor.at + size;
    cursor.at += headBytes;
    if (CONTAINERS.has(type)) continue;
    const fields = Buffer.concat([bytes.subarray(headBytes)], FIELDS_BYTES);
    const flags = fields.readUIntBE(1, 3);
    const idAt = fields[0] === 1 ? 20 : 12;
    if (type === 'tkhd') track = trackOf(fields.readUInt32BE(idAt));
    else if (type === 'mdhd') {
      track.scale = fields.readUInt32BE(idAt);
      const duration = fields[0] === 1 ? Number(fields.readBigUInt64BE(24)) : fields.readUInt32BE(16);
      track.stated = duration === 0xffff_ffff ? 0 : duration;
    } else if (type === 'trex') trackOf(fields.readUInt32BE(4)).sample = fields.readUInt32BE(12);
    else if (type === 'tfhd') {
      track = trackOf(fields.readUInt32BE(4));
      sample =
        flags & HAS_DEFAULT_DURATION ? fields.readUInt32BE(8 + bytesOf(HEAD_FIELDS, flags)) : track.sample;
    } else if (type === 'trun') {
      const count = fields.readUInt32BE(4);
      if ((flags & HAS_DURATION) === 0) track.inFragments += count * sample;
      else {
        const each = 4 * SAMPLE_FIELDS.filter((flag) => flags & flag).length;
        cursor.at += 8 + 4 * RUN_FIELDS.filter((flag) => flags & flag).length;
        for (; cursor.at + each <= Math.min(end, cursor.size); cursor.at += each)
          track.inFragments += (cursor.peek(4) ?? (await cursor.load(4))).readUInt32BE(0);
      }
    }
    cursor.at = end;
  }
  let seconds = 0;
  for (const { scale, stated, inFragments } of tracks.values()) {
    if (scale > 0) seconds = Math.max(seconds, stated / scale, inFragments / scale);
  }
  return seconds;
}

function bytesOf(fields: readonly (readonly [flag: number, bytes: number])[], flags: number): number {
  return fields.reduce((sum, [flag, bytes]) => sum + (flags & flag ? bytes : 0), 0);
}
