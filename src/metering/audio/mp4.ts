import type { ByteSource } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { ByteCursor } from './byte-cursor.ts';
import { type SampleCodec, sampleCodec } from './mp4-codec.ts';
import { Mp4Fragments } from './mp4-fragments.ts';

/** Boxes whose children are walked (ISO 14496-12). */
const CONTAINERS: ReadonlySet<string> = new Set([
  'moov',
  'trak',
  'mdia',
  'minf',
  'stbl',
  'mvex',
  'moof',
  'traf',
  'udta',
  'edts',
  'dinf',
]);
const HEAD_BYTES = 16;
/** Bytes of a box's content that are read: as far as the fields reach that matter here. */
const FIELDS_BYTES = 32;
const MAX_STSD_BYTES = 64 * 1024;
const MAX_DEPTH = 16;
const MAX_TRACKS = 100;

/** A track, as its boxes describe it. Where two boxes state one fact differently, the larger number counts. */
class Track {
  id = 0;
  isSound = false;
  codec: SampleCodec | undefined;
  /** Set where the track has two sample descriptions or a packed size table (`stz2`), which are not read. */
  isStrange = false;
  samples = 0;
  /** Bytes of the longest sample. */
  longest = 0;
  /** Seconds that its `mdhd` states; 0 where it states none. */
  stated = 0;
}

/**
 * Length of an MP4 or M4A file, fragmented or not: the number of samples in the tables of its longest audio track,
 * times what one sample of its codec lasts at most. That is a bound, because a decoder finds no sample that no table
 * lists; the durations in the tables are not believed. Undefined where an audio track has a codec that is not known
 * here, or a sample with more bytes than one of this length needs (`isUncountable`).
 */
export async function mp4Walked(audio: ByteSource, start: number): Promise<Walked | undefined> {
  const cursor = new ByteCursor(audio, start);
  const tracks: Track[] = [];
  const ends = [cursor.size];
  const fragments = new Mp4Fragments();
  while (cursor.at + 8 <= cursor.size) {
    while (ends.length > 1 && cursor.at + 8 > (ends.at(-1) as number)) cursor.at = ends.pop() as number;
    const limit = ends.at(-1) as number;
    const head = cursor.peek(HEAD_BYTES) ?? (await cursor.load(HEAD_BYTES));
    if (head.length < 8) break;
    const type = head.toString('latin1', 4, 8);
    let size = head.readUInt32BE(0);
    const isLong = size === 1 && head.length === HEAD_BYTES;
    if (isLong) size = Number(head.readBigUInt64BE(8));
    const headBytes = isLong ? HEAD_BYTES : 8;
    // Size 0 means "to the end". Decoders cut a box at the end of its parent.
    const end = size === 0 ? limit : Math.min(limit, cursor.at + size);
    if (size !== 0 && size < headBytes) return undefined;
    if (type === 'trak' && tracks.push(new Track()) > MAX_TRACKS) return undefined;
    cursor.at += headBytes;
    if (CONTAINERS.has(type)) {
      if (ends.push(end) > MAX_DEPTH) return undefined;
      continue;
    }
    const fields = cursor.peek(FIELDS_BYTES) ?? (await cursor.load(FIELDS_BYTES));
    const track = tracks.at(-1);
    // A compressed header, whose tables only a decoder sees.
    if (type === 'cmov') return undefined;
    if (type === 'tfhd' && fields.length >= 8) fragments.head(fields);
    else if (type === 'trex') fragments.defaults(fields);
    else if (type === 'trun' && fields.length >= 8) await fragments.run(cursor, end);
    else if (track) {
      if (type === 'stsd') await readCodec(cursor, Math.min(end - cursor.at, MAX_STSD_BYTES), track);
      else if (type === 'stsz') await readSizes(cursor, end, track);
      else readTrack(track, type, fields);
    }
    cursor.at = end;
  }
  const heard = tracks.filter(({ isSound }) => isSound);
  for (const track of heard) {
    const { count, longest } = fragments.of(track.id);
    track.samples += count;
    track.longest = Math.max(track.longest, longest);
  }
  if (heard.length === 0 || heard.some(isUncountable)) return undefined;
  const longest = heard.reduce((most, track) => (secondsOf(track) > secondsOf(most) ? track : most));
  return {
    seconds: secondsOf(longest),
    stated: longest.stated > 0 ? longest.stated : undefined,
    isBound: longest.codec?.isBound ?? false,
  };
}

function secondsOf({ samples, codec }: Track): number {
  return samples * (codec?.seconds ?? 0);
}

function isUncountable({ isStrange, codec, longest }: Track): boolean {
  return isStrange || !codec || longest > codec.mostBytes;
}

async function readCodec(cursor: ByteCursor, size: number, track: Track): Promise<void> {
  const stsd = cursor.peek(size) ?? (await cursor.load(size));
  const codec = sampleCodec(stsd.subarray(0, size));
  if (track.codec) track.isStrange = true;
  track.codec = codec;
}

/** Reads an `stsz` box: the number of samples, and one size for all of them or a table of sizes. */
async function readSizes(cursor: ByteCursor, end: number, track: Track): Promise<void> {
  const head = cursor.peek(12) ?? (await cursor.load(12));
  if (head.length < 12) return;
  const each = head.readUInt32BE(4);
  track.samples = Math.max(track.samples, head.readUInt32BE(8));
  track.longest = Math.max(track.longest, each);
  cursor.at += 12;
  while (each === 0 && cursor.at + 4 <= end) {
    const sizes = cursor.peek(4) ?? (await cursor.load(4));
    if (sizes.length < 4) return;
    track.longest = Math.max(track.longest, sizes.readUInt32BE(0));
    cursor.at += 4;
  }
}

function readTrack(track: Track, type: string, fields: Buffer): void {
  if (fields.length < FIELDS_BYTES) return;
  const isWide = fields[0] === 1;
  if (type === 'tkhd') track.id = fields.readUInt32BE(isWide ? 20 : 12);
  else if (type === 'hdlr') track.isSound ||= fields.toString('latin1', 8, 12) === 'soun';
  else if (type === 'stz2') track.isStrange = true;
  else if (type === 'mdhd') {
    const scale = fields.readUInt32BE(isWide ? 20 : 12);
    const duration = isWide ? Number(fields.readBigUInt64BE(24)) : fields.readUInt32BE(16);
    const isOpen = duration === 0xffff_ffff;
    if (scale > 0 && !isOpen) track.stated = Math.max(track.stated, duration / scale);
  }
}
