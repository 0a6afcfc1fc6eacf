import { ByteCursor, type ByteSource, indexOf } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { streamInfo } from './flac.ts';
import { flac, opus, PACKET_HEAD_BYTES, type PacketCodec, vorbis } from './packet-codec.ts';

const SYNC = Buffer.from('OggS');
const HEAD_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
/** Most logical streams of a file; a genuine one has one or two, a chained one a few more. */
const MAX_STREAMS = 10_000;

/**
 * Length of an Ogg file: the sum of the packets of all logical streams, which bounds chained and parallel streams.
 * Undefined for a codec other than Opus, Vorbis or FLAC, or for a page with a wrong checksum, which only some decoders
 * skip.
 */
export async function oggWalked(audio: ByteSource, start: number): Promise<Walked | undefined> {
  const streams: OggStream[] = [];
  const current = new Map<number, OggStream>();
  const cursor = new ByteCursor(audio, start);
  while (cursor.at < cursor.size) {
    const page = await pageAt(cursor);
    if (!page) {
      // Decoders skip bytes that aren't a page, and a page truncated by the end of the file.
      const next = await indexOf(audio, SYNC, cursor.at + 1);
      if (next < 0) break;
      cursor.at = next;
      continue;
    }
    if (oggCrc(page) !== page.readUInt32LE(22)) return undefined;
    const serial = page.readUInt32LE(14);
    const flags = page.readUInt8(5);
    let stream = current.get(serial);
    if (!stream || (flags & FIRST) !== 0) {
      if (streams.length >= MAX_STREAMS) return undefined;
      stream = new OggStream();
      streams.push(stream);
      current.set(serial, stream);
    }
    readPage(page, stream, (flags & CONTINUED) !== 0);
    cursor.at += page.length;
  }
  if (streams.some(({ isUnknown }) => isUnknown)) return undefined;
  const stated = streams.reduce((sum, stream) => sum + Math.max(0, stream.stated ?? 0), 0);
  return {
    seconds: streams.reduce((sum, stream) => sum + stream.seconds, 0),
    stated: stated > 0 ? stated : undefined,
    isBound: streams.some(({ isBound }) => isBound),
  };
}

/** The page at the cursor; undefined if there is none, or the end of the file truncates it. */
async function pageAt(cursor: ByteCursor): Promise<Buffer | undefined> {
  const head = cursor.peek(HEAD_BYTES + 255) ?? (await cursor.load(HEAD_BYTES + 255));
  if (head.length < HEAD_BYTES || !head.subarray(0, 4).equals(SYNC)) return undefined;
  const segments = head.readUInt8(26);
  let length = HEAD_BYTES + segments;
  for (let index = HEAD_BYTES; index < HEAD_BYTES + segments; index++) length += head[index] ?? 0;
  if (cursor.at + length > cursor.size) return undefined;
  return cursor.peek(length) ?? (await cursor.load(length));
}

/**
 * Adds the packets of a page to its stream. The segment table lists their sizes in values up to 255: a value below 255
 * ends a packet, and a final 255 continues the packet in the next page.
 */
function readPage(page: Buffer, stream: OggStream, isContinued: boolean): void {
  const before = stream.seconds;
  const segments = page.readUInt8(26);
  let at = HEAD_BYTES + segments;
  let from = at;
  if (!isContinued) stream.packetStart();
  for (let index = HEAD_BYTES; index < HEAD_BYTES + segments; index++) {
    const lacing = page[index] as number;
    at += lacing;
    if (lacing === 255 && index < HEAD_BYTES + segments - 1) continue;
    stream.piece(page.subarray(from, at), lacing < 255);
    from = at;
  }
  stream.pageEnd(page.readBigUInt64LE(6), before);
}

/** Granule position of a page on which no packet ends (RFC 3533). */
const NO_GRANULE = (1n << 64n) - 1n;
const OPUS_HZ = 48_000;
/** Bytes of a stream's first packet that identify and set up each supported codec. */
const IDENTIFICATION_BYTES = 64;
/** First bytes of streams without audio, which add no length: Skeleton, video and subtitles. */
const SILENT = ['fishead\0', '\x80theora', '\x01video', 'OVP80', 'BBCD', '\x80kate', 'CMML'];

/** First bytes of the second Opus packet, which holds tags and no audio. */
const OPUS_TAGS = 'OpusTags';

/** A codec's scale of the granule position, the time at the end of a page. */
interface Granules {
  /** Units per second. */
  readonly rate: number;
  /** Initial units that decoders drop ("pre-skip", RFC 7845). */
  readonly skip: number;
}

/** One logical stream of an Ogg file, with the length of its packets so far. */
class OggStream {
  seconds = 0;
  /** The codec is not supported. */
  isUnknown = false;
  #codec: PacketCodec | undefined;
  #granules: Granules | undefined;
  /** Granule position at the start of the stream: not 0 if it was cut from a longer recording. */
  #from: number | undefined;
  /** Largest granule position so far. */
  #to = 0;
  #isIdentified = false;
  #packets = 0;
  /** First bytes of the incomplete packet. */
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the incomplete packet so far. */
  #bytes = 0;

  get isBound(): boolean {
    return this.#codec?.isBound ?? false;
  }

  /** Seconds by the granule positions, the length that this format states; undefined if absent. */
  get stated(): number | undefined {
    if (!this.#granules || this.#from === undefined) return undefined;
    return (this.#to - this.#from - this.#granules.skip) / this.#granules.rate;
  }

  /** Adds the next piece of a packet, which `isEnd` completes. A packet can continue in the next page of its stream. */
  piece(bytes: Buffer, isEnd: boolean): void {
    const limit = this.#isIdentified ? PACKET_HEAD_BYTES : IDENTIFICATION_BYTES;
    if (this.#bytes === 0) this.#head = bytes.subarray(0, limit);
    else if (this.#head.length < limit)
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, limit - this.#head.length)]);
    this.#bytes += bytes.length;
    if (!isEnd) return;
    if (!this.#isIdentified) this.#identify(this.#head);
    else if (this.#packets > 1 || !this.#head.toString('latin1').startsWith(OPUS_TAGS))
      this.seconds += this.#codec?.seconds(this.#head, this.#bytes) ?? 0;
    this.#packets++;
    this.#bytes = 0;
    this.#head = Buffer.alloc(0);
  }

  /** Ends an incomplete packet, because a page starts a new one. */
  packetStart(): void {
    if (this.#bytes > 0) this.piece(Buffer.alloc(0), true);
  }

  /** Takes the granule position of a page; `before` is `seconds` before the packets of this page. */
  pageEnd(granule: bigint, before: number): void {
    if (granule === NO_GRANULE || !this.#granules) return;
    const to = Number(granule);
    const inPage = Math.round((this.seconds - before) * this.#granules.rate);
    if (inPage > 0) this.#from ??= Math.max(0, to - inPage);
    this.#to = Math.max(this.#to, to);
  }

  #identify(packet: Buffer): void {
    this.#isIdentified = true;
    const name = packet.toString('latin1', 0, 8);
    if (name === 'OpusHead' && packet.length >= 12) {
      this.#codec = opus;
      this.#granules = { rate: OPUS_HZ, skip: packet.readUInt16LE(10) };
    } else if (name.startsWith('\x7fFLAC') && packet.length >= 51) {
      const { rate } = streamInfo(packet.subarray(17));
      this.#codec = flac(rate);
      if (rate > 0) this.#granules = { rate, skip: 0 };
    } else if (name.startsWith('\x01vorbis')) {
      this.#codec = vorbis(packet);
      if (this.#codec) this.#granules = { rate: packet.readUInt32LE(12), skip: 0 };
    }
    this.isUnknown = !this.#codec && !SILENT.some((known) => name.startsWith(known));
  }
}

/** Table for the CRC-32 of RFC 3533: polynomial 0x04c11db7, not reflected, so zlib's CRC-32 doesn't fit. */
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});
const CRC_AT = 22;

/** Checksum of an Ogg page, with zeros for the four checksum bytes. */
function oggCrc(page: Buffer): number {
  let crc = 0;
  for (let at = 0; at < page.length; at++) {
    const byte = at >= CRC_AT && at < CRC_AT + 4 ? 0 : (page[at] as number);
    crc = (crc << 8) ^ (TABLE[(crc >>> 24) ^ byte] as number);
  }
  return crc >>> 0;
}
