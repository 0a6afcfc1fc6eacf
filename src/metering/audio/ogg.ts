import type { ByteSource } from '../byte-source.ts';
import { streamInfo } from './flac.ts';

const HEAD_BYTES = 27;
/** Longest page: its head, 255 sizes, and 255 pieces of 255 bytes. */
const MAX_PAGE_BYTES = HEAD_BYTES + 255 + 255 * 255;
const OPUS_HZ = 48_000;

/** Scale of the granule position, the time at the end of a page. */
interface Granules {
  /** Units per second. */
  readonly rate: number;
  /** Initial units that decoders drop ("pre-skip", RFC 7845). */
  readonly skip: number;
}

/** Seconds of an Ogg file, by the last page of its first stream; undefined unless that is Opus, Vorbis or FLAC. */
export async function oggSeconds(audio: ByteSource, start: number): Promise<number | undefined> {
  const first = await audio.read(start, start + MAX_PAGE_BYTES);
  const granules = first.length > HEAD_BYTES ? granulesIn(first) : undefined;
  if (!granules) return undefined;
  const tail = await audio.read(Math.max(start, audio.size - 2 * MAX_PAGE_BYTES), audio.size);
  for (let end = tail.length - HEAD_BYTES; end >= 0; end--) {
    end = tail.lastIndexOf('OggS', end);
    if (end < 0) return undefined;
    // -1: no packet ends in this page.
    const granule = tail.readBigInt64LE(end + 6);
    const isOfFirst = tail.readUInt32LE(end + 14) === first.readUInt32LE(14);
    if (isOfFirst && granule > 0n) return (Number(granule) - granules.skip) / granules.rate;
  }
  return undefined;
}

/** Reads the first packet of a stream, which identifies the codec. */
function granulesIn(page: Buffer): Granules | undefined {
  const packet = page.subarray(HEAD_BYTES + page.readUInt8(26));
  if (packet.length < 51) return undefined;
  const name = packet.toString('latin1', 0, 8);
  if (name === 'OpusHead') return { rate: OPUS_HZ, skip: packet.readUInt16LE(10) };
  if (name.startsWith('\x01vorbis')) return { rate: packet.readUInt32LE(12), skip: 0 };
  return name.startsWith('\x7fFLAC') ? { rate: streamInfo(packet.subarray(17)).rate, skip: 0 } : undefined;
}
