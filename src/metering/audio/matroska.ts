import { ByteCursor, type ByteSource } from '../byte-source.ts';

/** Elements (RFC 9559) with walked children: Segment, Info, Cluster, BlockGroup. */
const MASTERS: ReadonlySet<number> = new Set([0x18538067, 0x1549a966, 0x1f43b675, 0xa0]);
const SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const CLUSTER_TIME = 0xe7;
/** Block and SimpleBlock, which carry the packets. */
const BLOCKS: ReadonlySet<number> = new Set([0xa1, 0xa3]);
/** Longest head of an element, 4 bytes of id and 8 of size, and what is read of its content. */
const HEAD_BYTES = 12;
const FIELD_BYTES = 12;
const NS_PER_S = 1_000_000_000;

/**
 * Seconds of a WebM or Matroska file: its Duration, or else the time of its last block, since browsers record without
 * one. Undefined without either.
 */
export async function matroskaSeconds(audio: ByteSource, start: number): Promise<number | undefined> {
  const cursor = new ByteCursor(audio, start);
  let scaleNs = 1_000_000;
  let cluster = 0;
  let last = 0;
  /** Time between the last two blocks, as long as the last one lasts. */
  let gap = 0;
  while (cursor.at < cursor.size) {
    const wanted = HEAD_BYTES + FIELD_BYTES;
    const bytes = cursor.peek(wanted) ?? (await cursor.load(wanted));
    const element = elementAt(bytes);
    if (!element) break;
    cursor.at += element.headBytes;
    if (MASTERS.has(element.id)) continue;
    if (element.size === undefined) break;
    const { id, size, headBytes } = element;
    const content = bytes.subarray(headBytes, headBytes + Math.min(size, FIELD_BYTES));
    if (id === SCALE) scaleNs = unsigned(content);
    else if (id === DURATION && float(content) > 0) return (float(content) * scaleNs) / NS_PER_S;
    else if (id === CLUSTER_TIME) cluster = unsigned(content);
    else if (BLOCKS.has(id)) {
      const timeAt = vint(content, 0)?.bytes ?? FIELD_BYTES;
      const time = cluster + (timeAt + 2 <= content.length ? content.readInt16BE(timeAt) : 0);
      if (time > last) gap = time - last;
      last = Math.max(last, time);
    }
    cursor.at += size;
  }
  return last > 0 ? ((last + gap) * scaleNs) / NS_PER_S : undefined;
}

/** Head of an EBML element (RFC 8794). Matroska and WebM files are trees of elements. */
interface Element {
  readonly id: number;
  readonly headBytes: number;
  /** Bytes of the content; undefined for "unknown size": the element ends before one that can't be inside it. */
  readonly size: number | undefined;
}

function elementAt(bytes: Buffer): Element | undefined {
  const idBytes = Math.clz32(bytes[0] ?? 0) - 23;
  if (idBytes > 4 || bytes.length <= idBytes) return undefined;
  const size = vint(bytes, idBytes);
  if (!size) return undefined;
  const isOpen = size.value === 2 ** (7 * size.bytes) - 1;
  return {
    id: bytes.readUIntBE(0, idBytes),
    headBytes: idBytes + size.bytes,
    size: isOpen ? undefined : size.value,
  };
}

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
