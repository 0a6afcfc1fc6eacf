import type { ByteSource } from '../byte-source.ts';

/** Bound of the tags in a row that are skipped; an honest file has one or two. */
const MAX_TAGS = 16;

/** Offset of the first byte after the ID3v2 tags that may precede audio of any format; 0 where there are none. */
export async function id3End(audio: ByteSource): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const head = await audio.read(at, at + 10);
    if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') break;
    const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6);
    const hasFooter = ((head[5] as number) & 0x10) !== 0;
    at +=
      10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f)) + (hasFooter ? 10 : 0);
  }
  return at;
}
