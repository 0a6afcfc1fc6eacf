import { AAC_CHANNEL_BYTES, AAC_SAMPLES } from './frame.ts';
import { aacConfig, OPUS_MOST_SECONDS } from './packet-codec.ts';

/** What a sample of an MP4 track is to a decoder. */
export interface SampleCodec {
  /** Seconds of a sample, at most. */
  readonly seconds: number;
  /** Bytes of a sample, at most: a longer one holds several. */
  readonly mostBytes: number;
  readonly isBound?: boolean;
}

const ENTRY_HEAD_BYTES = 8;
const ES_DESCRIPTOR = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC = 5;
/** Object types of AAC: of MPEG 4, and the profiles of MPEG 2. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);

/**
 * The codec that the entries of a sample description name; with several, the one that lasts longest. Undefined where it
 * is not known here.
 */
export function sampleCodec(stsd: Buffer): SampleCodec | undefined {
  let codec: SampleCodec | undefined;
  for (let at = 8; at + ENTRY_HEAD_BYTES <= stsd.length; ) {
    const size = stsd.readUInt32BE(at);
    const entry = stsd.subarray(at, at + size);
    const found = size >= ENTRY_HEAD_BYTES ? entryCodec(entry) : undefined;
    if (!found) return undefined;
    if (!codec || found.seconds > codec.seconds) codec = found;
    at += size;
  }
  return codec;
}

function entryCodec(entry: Buffer): SampleCodec | undefined {
  const name = entry.toString('latin1', 4, 8);
  if (name === 'mp4a') return aacSamples(entry);
  if (name === 'Opus')
    return { seconds: OPUS_MOST_SECONDS, mostBytes: Number.POSITIVE_INFINITY, isBound: true };
  if (name !== 'alac') return undefined;
  // The box of the same name in the entry: samples of a packet first, the rate last.
  const at = entry.indexOf('alac', ENTRY_HEAD_BYTES, 'latin1') + ENTRY_HEAD_BYTES;
  if (at < 2 * ENTRY_HEAD_BYTES || at + 24 > entry.length) return undefined;
  const seconds = entry.readUInt32BE(at) / entry.readUInt32BE(at + 20);
  return Number.isFinite(seconds) ? { seconds, mostBytes: Number.POSITIVE_INFINITY } : undefined;
}

function aacSamples(entry: Buffer): SampleCodec | undefined {
  const at = entry.indexOf('esds', ENTRY_HEAD_BYTES, 'latin1');
  const es = at < 0 ? undefined : descriptor(entry, at + 8, ES_DESCRIPTOR);
  if (!es || es.length < 3) return undefined;
  const flags = es.readUInt8(2);
  // A stream that hangs on another, or is elsewhere.
  if ((flags & 0xe0) !== 0) return undefined;
  const config = descriptor(es, 3, DECODER_CONFIG);
  if (!config || config.length < 13 || !AAC.has(config.readUInt8(0))) return undefined;
  const specific = descriptor(config, 13, DECODER_SPECIFIC);
  const found = specific && aacConfig(specific);
  return found && { seconds: AAC_SAMPLES / found.rate, mostBytes: found.channels * AAC_CHANNEL_BYTES };
}

/** The content of the MPEG-4 descriptor that stands there, if it has that tag. */
function descriptor(bytes: Buffer, at: number, tag: number): Buffer | undefined {
  if (bytes[at] !== tag) return undefined;
  let size = 0;
  for (let next = at + 1; next < at + 5; next++) {
    const byte = bytes[next] ?? 0;
    size = size * 128 + (byte & 0x7f);
    if (byte < 0x80) return bytes.subarray(next + 1, next + 1 + size);
  }
  return undefined;
}
