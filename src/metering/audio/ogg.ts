import { type ByteSource, indexOf } from '../byte-source.ts';
import type { Walked } from './audio-length.ts';
import { ByteCursor } from './byte-cursor.ts';
import { oggCrc } from './ogg-crc.ts';
import { OggStream } from './ogg-stream.ts';

const SYNC = Buffer.from('OggS');
const HEAD_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
/** Bound of the logical streams of a file; an honest one has one or two, and a chained one a few more. */
const MAX_STREAMS = 10_000;

/**
 * Length of an Ogg file: the sum of the packets of all its logical streams. Streams may be chained one after the other
 * or lie side by side; the sum bounds both. Undefined where a stream has another codec than Opus, Vorbis or FLAC, or
 * where a page has a wrong checksum, which some decoders skip and others play.
 */
export async function oggWalked(audio: ByteSource, start: number): Promise<Walked | undefined> {
  const streams: OggStream[] = [];
  const current = new Map<number, OggStream>();
  const cursor = new ByteCursor(audio, start);
  while (cursor.at < cursor.size) {
    const page = await pageAt(cursor);
    if (!page) {
      // Decoders skip bytes that are no page, and a page that the end of the file cuts.
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

/** The page at the cursor; undefined where the bytes there are none, or the end of the file cuts it. */
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
 * Gives the packets of a page to its stream. The segment table lists their sizes in bytes up to 255: a value below 255
 * ends a packet, and 255 as the last value means that the packet goes on in the next page.
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
