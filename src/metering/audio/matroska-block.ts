import { vint } from './ebml.ts';

interface Packet {
  /** Offset in the block. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * Packets of a block of `size` bytes whose flags byte is at `flagsAt` (RFC 9559, section 10.3). A block carries one
 * packet, or up to 256 by "lacing", with the sizes of all but the last in front. `block` must hold the whole of a laced
 * block, and of another its head. Undefined where the sizes do not fit into the block.
 */
export function blockPackets(block: Buffer, flagsAt: number, size: number): Packet[] | undefined {
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
      // EBML lacing: the first number is a size, each further one the difference from the size before it.
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
