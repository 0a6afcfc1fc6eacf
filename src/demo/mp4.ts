/** Units of the file's times in a second. */
const TIMESCALE = 1_000;

/** An MP4 file of the given length without a track: players and probes accept its header. */
export function emptyMp4(seconds: number): Buffer {
  const brands = Buffer.from('isom\0\0\x02\0isommp41', 'latin1');
  const header = Buffer.alloc(100);
  header.writeUInt32BE(TIMESCALE, 12);
  header.writeUInt32BE(seconds * TIMESCALE, 16);
  // Rate and volume 1, and the identity as a matrix (ISO/IEC 14496-12, "Movie Header Box").
  header.writeUInt32BE(0x0001_0000, 20);
  header.writeUInt16BE(0x0100, 24);
  header.writeUInt32BE(0x0001_0000, 36);
  header.writeUInt32BE(0x0001_0000, 52);
  header.writeUInt32BE(0x4000_0000, 68);
  header.writeUInt32BE(1, 96);
  return Buffer.concat([box('ftyp', brands), box('moov', box('mvhd', header))]);
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}
