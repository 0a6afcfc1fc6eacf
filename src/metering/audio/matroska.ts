import { ByteCursor, type ByteSource, indexOf } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { streamInfo } from './flac.ts';
import {
  aac,
  aacConfig,
  flac,
  mpegAudio,
  opus,
  PACKET_HEAD_BYTES,
  type PacketCodec,
  vorbis,
} from './packet-codec.ts';

/** Elements with walked children: Segment, Cluster and BlockGroup (RFC 9559). */
const MASTERS: ReadonlySet<number> = new Set([0x18538067, 0x1f43b675, 0xa0]);
const INFO = 0x1549a966;
const SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const TRACKS = 0x1654ae6b;
/** Block and SimpleBlock, which carry the packets. */
const BLOCKS: ReadonlySet<number> = new Set([0xa1, 0xa3]);
const ENCRYPTED_BLOCK = 0xaf;
const CLUSTER = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
const DEFAULT_SCALE_NS = 1_000_000;
/** Bytes read of a block: its head (track number, time, flags) and the head of its packet. */
const BLOCK_HEAD_BYTES = 16 + PACKET_HEAD_BYTES;
/** Longest Info or Tracks element, and longest laced block, read into memory. */
const MAX_BYTES = 1024 * 1024;
/** Most places where the walk resumes after bytes that aren't an element; a genuine file has none. */
const MAX_GAPS = 100;
const MAX_TRACKS = 100;
const MAX_DEPTH = 16;

/**
 * Length of a WebM or Matroska file: the sum of the packets of its longest audio track, since a decoder plays one
 * track. Undefined if decoders could find more than the walk: an audio track that is compressed, encrypted or of an
 * unsupported codec; a track described twice or after its blocks; an element that exceeds its parent.
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
      // Decoders resume at the next cluster after invalid bytes or an element truncated by the end of the file.
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
 * Adds the tracks of a `Tracks` element. False if it is malformed or describes a track twice: decoders then disagree.
 */
function addTracks(content: Buffer, tracks: Map<number, MatroskaTrack>): boolean {
  for (const track of tracksIn(content) ?? [undefined]) {
    if (!track || tracks.has(track.number) || tracks.size >= MAX_TRACKS) return false;
    tracks.set(track.number, track);
  }
  return true;
}

/** Adds the packets of the block at the cursor to its track; false if its track or packets are uncertain. */
async function readBlock(cursor: ByteCursor, size: number, tracks: ReadonlyMap<number, MatroskaTrack>) {
  const wanted = Math.min(size, BLOCK_HEAD_BYTES);
  let block = cursor.peek(wanted) ?? (await cursor.load(wanted));
  const number = vint(block, 0);
  if (!number || block.length < number.bytes + 3) return true;
  const track = tracks.get(number.value);
  // Its track may be described later, and a decoder that reads ahead plays this block.
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

const TRACK_ENTRY = 0xae;
const NUMBER = 0xd7;
const TYPE = 0x83;
const CODEC = 0x86;
const PRIVATE = 0x63a2;
const ENCODINGS = 0x6d80;
const AUDIO = 2;

/** A track of a Matroska file, with the length of its packets so far. */
class MatroskaTrack {
  readonly number: number;
  readonly isAudio: boolean;
  readonly #codec: PacketCodec | undefined;
  /** A packet had a length that the codec can't bound. */
  #isStrange = false;
  /** Total length of the packets so far. */
  seconds = 0;

  constructor(number: number, isAudio: boolean, codec: PacketCodec | undefined) {
    this.number = number;
    this.isAudio = isAudio;
    this.#codec = codec;
  }

  /** The codec is not supported, or a packet's length is unbounded. */
  get isUnknown(): boolean {
    return this.#isStrange || !this.#codec;
  }

  get isBound(): boolean {
    return this.#codec?.isBound ?? false;
  }

  /** Adds the packet that begins with `head` and has `bytes` in total. */
  packet(head: Buffer, bytes: number): void {
    const seconds = this.#codec?.seconds(head, bytes);
    if (seconds === undefined) this.#isStrange = true;
    else this.seconds += seconds;
  }
}

/** Tracks in the content of a `Tracks` element; undefined if it is malformed or repeats a fact. */
function tracksIn(content: Buffer): MatroskaTrack[] | undefined {
  const tracks: MatroskaTrack[] = [];
  for (const entry of childrenOf(content, TRACK_ENTRY)?.get(TRACK_ENTRY) ?? []) {
    const fields = childrenOf(entry);
    if (!fields) return undefined;
    const field = (id: number) => fields.get(id)?.[0] ?? Buffer.alloc(0);
    const codecId = field(CODEC)
      .toString('latin1')
      .replace(/(?<!\0)\0+$/, '');
    // A copy, because the codec keeps these bytes and `content` is a view of the whole window.
    const codec = fields.has(ENCODINGS) ? undefined : codecOf(codecId, Buffer.from(field(PRIVATE)));
    const isAudio = unsigned(field(TYPE)) === AUDIO || codecId.startsWith('A_');
    tracks.push(new MatroskaTrack(unsigned(field(NUMBER)), isAudio, codec));
  }
  return tracks;
}

function codecOf(id: string, setup: Buffer): PacketCodec | undefined {
  if (id === 'A_OPUS') return opus;
  if (id.startsWith('A_MPEG/L')) return mpegAudio;
  if (id.startsWith('A_AAC')) {
    const config = aacConfig(setup);
    return config && aac(config);
  }
  // The setup is the start of a FLAC file: `fLaC`, the 4-byte head of a metadata block, STREAMINFO.
  if (id === 'A_FLAC') return setup.length >= 26 ? flac(streamInfo(setup.subarray(8)).rate) : undefined;
  if (id !== 'A_VORBIS') return undefined;
  // The setup holds a count byte, the sizes of the first two of three headers as sums of bytes up to one below 255, and
  // then the headers. The first one is the identification.
  let at = 1;
  for (let sizes = 0; sizes < 2 && at < setup.length; at++) if (setup[at] !== 255) sizes++;
  return vorbis(setup.subarray(at));
}

interface Packet {
  /** Offset in the block. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * Packets of a block of `size` bytes whose flags byte is at `flagsAt` (RFC 9559, section 10.3). A block carries one
 * packet, or up to 256 by "lacing", preceded by all sizes but the last. `block` must hold all of a laced block, or the
 * head of another. Undefined if the sizes don't fit into the block.
 */
function blockPackets(block: Buffer, flagsAt: number, size: number): Packet[] | undefined {
  const lacing = ((block[flagsAt] as number) >> 1) & 3;
  let at = flagsAt + 1;
  if (lacing === 0) return [{ at, bytes: size - at }];
  const count = (block[at++] ?? 0) + 1;
  const sizes: number[] = [];
  for (let index = 0; index < count - 1; index++) {
    if (lacing === 1) {
      let bytes = 0;
      for (let byte = 255; byte === 255; at++) {
        if (at >= block.length) return undefined;
        byte = block[at] as number;
        bytes += byte;
      }
      sizes.push(bytes);
    } else if (lacing === 3) {
      const number = vint(block, at);
      if (!number) return undefined;
      at += number.bytes;
      // EBML lacing: the first number is a size, each later one the difference from the previous size.
      const difference = number.value - (2 ** (7 * number.bytes - 1) - 1);
      sizes.push(index === 0 ? number.value : (sizes[index - 1] as number) + difference);
    }
  }
  if (lacing === 2) for (let index = 1; index < count; index++) sizes.push(Math.floor((size - at) / count));
  const last = size - at - sizes.reduce((sum, bytes) => sum + bytes, 0);
  if (last < 0 || sizes.some((bytes) => bytes < 0)) return undefined;
  return [...sizes, last].map((bytes) => {
    at += bytes;
    return { at: at - bytes, bytes };
  });
}

/** Head of an EBML element (RFC 8794). Matroska and WebM files are trees of elements. */
interface Element {
  readonly id: number;
  readonly headBytes: number;
  /** Bytes of the content; undefined for "unknown size": the element ends before one that can't be inside it. */
  readonly size: number | undefined;
}

/** Longest head in bytes: 4 of id and 8 of size. */
const ELEMENT_HEAD_BYTES = 12;

/** The element whose head is at `at`; undefined without a valid head. */
function elementAt(bytes: Buffer, at = 0): Element | undefined {
  const idBytes = Math.clz32(bytes[at] ?? 0) - 23;
  if (idBytes > 4 || bytes.length <= at + idBytes) return undefined;
  const size = vint(bytes, at + idBytes);
  if (!size) return undefined;
  const isOpen = size.value === 2 ** (7 * size.bytes) - 1;
  return {
    id: bytes.readUIntBE(at, idBytes),
    headBytes: idBytes + size.bytes,
    size: isOpen ? undefined : size.value,
  };
}

/**
 * Contents of the child elements, by id. Undefined if the children don't fill `content` exactly, or an id other than
 * `mayRepeat` occurs twice, since decoders disagree on which counts.
 */
function childrenOf(content: Buffer, mayRepeat?: number): Map<number, Buffer[]> | undefined {
  const children = new Map<number, Buffer[]>();
  for (let at = 0; at < content.length; ) {
    const element = elementAt(content, at);
    if (element?.size === undefined) return undefined;
    const from = at + element.headBytes;
    at = from + element.size;
    if (at > content.length) return undefined;
    const same = children.get(element.id);
    if (!same) children.set(element.id, [content.subarray(from, at)]);
    else if (element.id === mayRepeat) same.push(content.subarray(from, at));
    else if (!PADDING.has(element.id)) return undefined;
  }
  return children;
}

/** Void and CRC-32, which may occur anywhere and don't concern the audio. */
const PADDING: ReadonlySet<number> = new Set([0xec, 0xbf]);

/** A variable-length integer (RFC 8794, section 4) without its length marker; undefined if invalid. */
function vint(bytes: Buffer, at: number): { value: number; bytes: number } | undefined {
  const first = bytes[at];
  if (!first) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[at + index] as number);
  return { value, bytes: length };
}

/** Big-endian unsigned integer of any length; inexact above 2^53. */
function unsigned(bytes: Buffer): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** EBML float of 4 or 8 bytes; 0 for any other length. */
function float(bytes: Buffer): number {
  if (bytes.length === 4) return bytes.readFloatBE(0);
  return bytes.length === 8 ? bytes.readDoubleBE(0) : 0;
}
