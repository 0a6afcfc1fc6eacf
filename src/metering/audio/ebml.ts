/** RFC 8794: what Matroska files are made of. */
export interface Element {
  readonly id: number;
  readonly headBytes: number;
  /** Of its content; undefined: it does not say, and goes on for as long as its content does. */
  readonly size: number | undefined;
}

/** The longest head of an element. */
export const ELEMENT_HEAD_BYTES = 12;

/** The element whose head stands there; undefined where none does. */
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

/** The elements in the content of another, by id; undefined where they do not fill it, or one stands there twice. */
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

/** Void and CRC-32. */
const PADDING: ReadonlySet<number> = new Set([0xec, 0xbf]);

/** A number of variable length, without its marker; undefined where none stands there. */
export function vint(bytes: Buffer, at: number): { value: number; bytes: number } | undefined {
  const first = bytes[at];
  if (!first) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[at + index] as number);
  return { value, bytes: length };
}

export function unsigned(bytes: Buffer): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

export function float(bytes: Buffer): number {
  if (bytes.length === 4) return bytes.readFloatBE(0);
  return bytes.length === 8 ? bytes.readDoubleBE(0) : 0;
}
