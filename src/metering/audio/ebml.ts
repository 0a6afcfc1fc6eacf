/** The head of an EBML element (RFC 8794). Matroska and WebM files are trees of such elements. */
export interface Element {
  readonly id: number;
  readonly headBytes: number;
  /** Bytes of the content; undefined for "unknown size", where the element lasts until one that cannot be inside it. */
  readonly size: number | undefined;
}

/** Bytes of the longest head: 4 of id and 8 of size. */
export const ELEMENT_HEAD_BYTES = 12;

/** The element whose head is at `at`; undefined where the bytes there are no head. */
export function elementAt(bytes: Buffer, at = 0): Element | undefined {
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
 * Contents of the child elements of `content`, by id. Undefined where the children do not fill it exactly, or where an
 * id other than `mayRepeat` occurs twice: decoders differ in which of the two they believe.
 */
export function childrenOf(content: Buffer, mayRepeat?: number): Map<number, Buffer[]> | undefined {
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

/** Ids of Void and CRC-32, which may stand anywhere and say nothing about the audio. */
const PADDING: ReadonlySet<number> = new Set([0xec, 0xbf]);

/** A variable-length integer (RFC 8794, section 4) without its length marker; undefined where the bytes are none. */
export function vint(bytes: Buffer, at: number): { value: number; bytes: number } | undefined {
  const first = bytes[at];
  if (!first) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[at + index] as number);
  return { value, bytes: length };
}

/** Big-endian unsigned integer of any length; inexact above 2^53. */
export function unsigned(bytes: Buffer): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** EBML float of 4 or 8 bytes; 0 for any other length. */
export function float(bytes: Buffer): number {
  if (bytes.length === 4) return bytes.readFloatBE(0);
  return bytes.length === 8 ? bytes.readDoubleBE(0) : 0;
}
