import { crc32, deflateSync } from 'node:zlib';

/** Side of a picture whose request names no size. */
const USUAL_SIDE = 1_024;
const LONGEST_SIDE = 4_096;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Bit depth 1, a palette of one color, no interlacing. */
const FORMAT = Buffer.from([1, 3, 0, 0, 0]);
const COLOR = Buffer.from([0x3b, 0x82, 0xf6]);

/** A picture of one color in the size of a request (`1536x1024`), as a PNG. */
export function pictureOf(size: unknown): Buffer {
  const given = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(String(size))?.slice(1) ?? [];
  const [width = USUAL_SIDE, height = USUAL_SIDE] = given.map((side) => Math.min(LONGEST_SIDE, Number(side)));
  const sides = Buffer.alloc(8);
  sides.writeUInt32BE(width);
  sides.writeUInt32BE(height, 4);
  // Each row has a byte for its filter, and a bit a pixel: the index of its color.
  const pixels = deflateSync(Buffer.alloc((1 + Math.ceil(width / 8)) * height));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([sides, FORMAT])),
    chunk('PLTE', COLOR),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A chunk of a PNG: length, type, data and checksum. */
function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}
