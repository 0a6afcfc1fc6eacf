// Smallest files of each container, with the fields that an attacker edits as arguments. Their content is no sound.

const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A FLAC file with frames of 4,096 samples at 16 kHz, mono, whose STREAMINFO states `stated` samples. */
export function flacFile(frames: number, stated: number): Buffer<ArrayBuffer> {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4_096, 0);
  info.writeUInt16BE(4_096, 2);
  info.writeUInt32BE(((16_000 << 12) | (15 << 4)) >>> 0, 10);
  info.writeUInt32BE(stated, 14);
  const list = Array.from({ length: frames }, (_, number) => {
    // 4,096 samples, 16 kHz, one channel, 16 bit; a constant subframe, and a checksum that no reader here checks.
    const head = Buffer.from([0xff, 0xf8, 0xc5, 0x08, number % 128]);
    return Buffer.concat([head, Buffer.from([crc8(head)]), Buffer.from([0, 0, 0, 0, 0])]);
  });
  return Buffer.concat([Buffer.from('fLaC'), u32(0x8000_0022), info, ...list]);
}

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 255 : crc << 1;
  }
  return crc;
}

/** A packet of Opus that lasts 20 ms. */
export const OPUS_20_MS = Buffer.from([0x78, 1, 2, 3]);

/**
 * An Ogg file with one packet of Opus in each page, whose last granule position is `stated` samples (48,000 a second).
 */
export function oggOpus(pages: number, stated: number, packet = OPUS_20_MS): Buffer<ArrayBuffer> {
  const head = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
  const tags = Buffer.from('OpusTags\0\0\0\0\0\0\0\0', 'latin1');
  const granule = (index: number) => Math.round(((index + 1) * stated) / pages);
  return Buffer.concat([
    oggPage(0, head, 0, 2),
    oggPage(1, tags, 0),
    ...Array.from({ length: pages }, (_, index) =>
      oggPage(index + 2, packet, granule(index), index === pages - 1 ? 4 : 0),
    ),
  ]);
}

export function oggPage(number: number, packet: Buffer, granule: number, flags = 0): Buffer {
  const page = Buffer.concat([Buffer.alloc(28), packet]);
  page.write('OggS', 0);
  page[5] = flags;
  page.writeBigUInt64LE(BigInt(granule), 6);
  page.writeUInt32LE(1, 14);
  page.writeUInt32LE(number, 18);
  page[26] = 1;
  page[27] = packet.length;
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  page.writeUInt32LE(crc >>> 0, 22);
  return page;
}

/** An EBML element with its size in four bytes. */
export function element(id: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const hex = id.toString(16);
  return Buffer.concat([Buffer.from(hex, 'hex'), u32((0x1000_0000 | bytes.length) >>> 0), bytes]);
}

/** A WebM file with blocks of Opus of 20 ms, whose Duration is `stated` ms; without it, as browsers record. */
export function webmFile(blocks: number, stated?: number, codec = 'A_OPUS'): Buffer<ArrayBuffer> {
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(stated ?? 0);
  const info = element(0x1549a966, ...(stated === undefined ? [] : [element(0x4489, duration)]));
  const track = element(
    0xae,
    element(0xd7, Buffer.from([1])),
    element(0x83, Buffer.from([2])),
    element(0x86, Buffer.from(codec)),
  );
  const block = element(0xa3, Buffer.from([0x81, 0, 0, 0x80]), OPUS_20_MS);
  const cluster = element(0x1f43b675, ...Array.from({ length: blocks }, () => block));
  return Buffer.concat([
    element(0x1a45dfa3, element(0x4282, Buffer.from('webm'))),
    element(0x18538067, info, element(0x1654ae6b, track), cluster),
  ]);
}

export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  return Buffer.concat([u32(bytes.length + 8), Buffer.from(type, 'latin1'), bytes]);
}

/** An M4A file with samples of AAC at 16 kHz, mono, of `bytes` each, whose track header states `stated` seconds. */
export function m4aFile(samples: number, stated: number, bytes = 100): Buffer<ArrayBuffer> {
  // AAC LC, 16 kHz, one channel.
  const specific = Buffer.from([5, 2, 0x14, 0x08]);
  const config = Buffer.concat([
    Buffer.from([4, 13 + specific.length, 0x40, 0x15]),
    Buffer.alloc(11),
    specific,
  ]);
  const esds = box('esds', u32(0), Buffer.from([3, 3 + config.length, 0, 1, 0]), config);
  const entry = box('mp4a', Buffer.alloc(16), u16(1), u16(16), u32(0), u32(16_000 * 65_536), esds);
  const sizes = Array.from({ length: samples }, () => u32(bytes));
  const track = box(
    'trak',
    box('tkhd', Buffer.alloc(12), u32(1), Buffer.alloc(68)),
    box(
      'mdia',
      box('mdhd', Buffer.alloc(12), u32(16_000), u32(Math.round(stated * 16_000)), Buffer.alloc(12)),
      box('hdlr', Buffer.alloc(8), Buffer.from('soun'), Buffer.alloc(20)),
      box(
        'minf',
        box('stbl', box('stsd', u32(0), u32(1), entry), box('stsz', u32(0), u32(0), u32(samples), ...sizes)),
      ),
    ),
  );
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A '), u32(0)),
    box('moov', track),
    box('mdat', Buffer.alloc(samples * bytes)),
  ]);
}

/** A frame of AAC with an ADTS header: 16 kHz, mono. */
export function adtsFrame(bytes: number): Buffer {
  const frame = Buffer.alloc(bytes);
  frame.set([0xff, 0xf1, 0x60, 0x40 | (bytes >> 11), (bytes >> 3) & 255, ((bytes & 7) << 5) | 0x1f, 0xfc]);
  return frame;
}
