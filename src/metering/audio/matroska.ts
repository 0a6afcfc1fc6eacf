import { type ByteSource, indexOf } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { ByteCursor } from './byte-cursor.ts';
import { childrenOf, ELEMENT_HEAD_BYTES, elementAt, float, unsigned, vint } from './ebml.ts';
import { blockPackets } from './matroska-block.ts';
import { type MatroskaTrack, tracksIn } from './matroska-track.ts';
import { PACKET_HEAD_BYTES } from './packet-codec.ts';

/** Ids of the elements whose children are walked: Segment, Cluster and BlockGroup (RFC 9559). */
const MASTERS: ReadonlySet<number> = new Set([0x18538067, 0x1f43b675, 0xa0]);
const INFO = 0x1549a966;
const SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const TRACKS = 0x1654ae6b;
/** Ids of Block and SimpleBlock, which carry the packets. */
const BLOCKS: ReadonlySet<number> = new Set([0xa1, 0xa3]);
const ENCRYPTED_BLOCK = 0xaf;
const CLUSTER = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
const DEFAULT_SCALE_NS = 1_000_000;
/** Bytes of a block that are read: enough for its head (track number, time, flags) and the head of its packet. */
const BLOCK_HEAD_BYTES = 16 + PACKET_HEAD_BYTES;
/** Bytes of the longest Info or Tracks element, and of the longest laced block, that is read into memory. */
const MAX_BYTES = 1024 * 1024;
/** Bound of the places where the walk resumes after bytes that are no element; an honest file has none. */
const MAX_GAPS = 100;
const MAX_TRACKS = 100;
const MAX_DEPTH = 16;

/**
 * Length of a WebM or Matroska file: the sum of the packets of its longest audio track. The longest bounds all, because
 * a decoder plays one of them. Undefined wherever decoders could find more than the walk does: an audio track whose
 * codec is not known here, or which is compressed or encrypted; a track described twice, or after its blocks; an
 * element that reaches beyond its parent.
 */
export async function matroskaWalked(audio: ByteSource, start: number): Promise<Walked | undefined> {
  const cursor = new ByteCursor(audio, start);
  const tracks = new Map<number, MatroskaTrack>();
  const ends: number[] = [];
  let stated = 0;
  let gaps = 0;
  while (cursor.at < cursor.size) {
    while (cursor.at >= (ends.at(-1) ?? Number.POSITIVE_INFINITY)) ends.pop();
    const element = elementAt(cursor.peek(ELEMENT_HEAD_BYTES) ?? (await cursor.load(ELEMENT_HEAD_BYTES)));
    const isMaster = element !== undefined && MASTERS.has(element.id);
    const from = cursor.at + (element?.headBytes ?? 0);
    const end = from + (element?.size ?? 0);
    if (element?.size !== undefined && end > (ends.at(-1) ?? end)) return undefined;
    if (element && isMaster) {
      if (element.size !== undefined && ends.push(end) > MAX_DEPTH) return undefined;
      cursor.at = from;
      continue;
    }
    if (element?.size === undefined || end > cursor.size) {
      // Decoders resume at the next cluster after bytes that are no element, or an element that the end of the file
      // cuts.
      const next = await indexOf(audio, CLUSTER, cursor.at + 1);
      if (next < 0) break;
      if (++gaps > MAX_GAPS) return undefined;
      ends.length = 0;
      cursor.at = next;
      continue;
    }
    const { id, size } = element;
    cursor.at = from;
    if (id === ENCRYPTED_BLOCK) return undefined;
    if (BLOCKS.has(id)) {
      if (!(await readBlock(cursor, size, tracks))) return undefined;
    } else if (id === INFO || id === TRACKS) {
      if (size > MAX_BYTES) return undefined;
      const content = (await cursor.load(size)).subarray(0, size);
      if (id === INFO) stated = Math.max(stated, statedSeconds(content));
      else if (!addTracks(content, tracks)) return undefined;
    }
    cursor.at = end;
  }
  const heard = [...tracks.values()].filter(({ isAudio }) => isAudio);
  if (heard.length === 0 || heard.some(({ isUnknown }) => isUnknown)) return undefined;
  const longest = heard.reduce((most, track) => (track.seconds > most.seconds ? track : most));
  return { seconds: longest.seconds, stated: stated > 0 ? stated : undefined, isBound: longest.isBound };
}

function statedSeconds(info: Buffer): number {
  const fields = childrenOf(info);
  const scale = fields?.get(SCALE)?.[0];
  const duration = fields?.get(DURATION)?.[0];
  const seconds =
    ((duration ? float(duration) : 0) * (scale ? unsigned(scale) : DEFAULT_SCALE_NS)) / 1_000_000_000;
  return Number.isFinite(seconds) ? seconds : 0;
}

/**
 * Adds the tracks of a `Tracks` element. False where it is malformed, or where a track number is described twice, so
 * that decoders may differ in the codec of its blocks.
 */
function addTracks(content: Buffer, tracks: Map<number, MatroskaTrack>): boolean {
  for (const track of tracksIn(content) ?? [undefined]) {
    if (!track || tracks.has(track.number) || tracks.size >= MAX_TRACKS) return false;
    tracks.set(track.number, track);
  }
  return true;
}

/** Adds the packets of the block at the cursor to its track; false where its track or its packets are not certain. */
async function readBlock(cursor: ByteCursor, size: number, tracks: ReadonlyMap<number, MatroskaTrack>) {
  const wanted = Math.min(size, BLOCK_HEAD_BYTES);
  let block = cursor.peek(wanted) ?? (await cursor.load(wanted));
  const number = vint(block, 0);
  if (!number || block.length < number.bytes + 3) return true;
  const track = tracks.get(number.value);
  // Its track may be described further on, and a decoder that reads that first plays this block.
  if (!track) return false;
  if (!track.isAudio) return true;
  const flagsAt = number.bytes + 2;
  const isLaced = ((block[flagsAt] as number) & 6) !== 0;
  if (isLaced) {
    if (size > MAX_BYTES) return false;
    block = cursor.peek(size) ?? (await cursor.load(size));
  }
  const packets = blockPackets(block, flagsAt, size);
  if (!packets) return false;
  for (const { at, bytes } of packets) {
    track.packet(block.subarray(at, at + Math.min(bytes, PACKET_HEAD_BYTES)), bytes);
  }
  return true;
}
