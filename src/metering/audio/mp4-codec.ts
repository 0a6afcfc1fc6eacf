import { AAC_CHANNEL_BYTES, AAC_SAMPLES } from './frame.ts';
import { aacConfig, OPUS_MOST_SECONDS } from './packet-codec.ts';

/** Bounds of one sample of an MP4 track. An MP4 "sample" is one packet of the codec, not one amplitude. */
export interface SampleCodec {
  /** Most seconds that a sample lasts. */
  readonly seconds: number;
  /** Most bytes that a sample of this length needs; a longer one may hold several packets. */
  readonly mostBytes: number;
  /** True where `seconds` is more than a sample lasts in honest files too. */
  readonly isBound?: boolean;
}

const ENTRY_HEAD_BYTES = 8;
const ES_DESCRIPTOR = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC = 5;
/** Object type indications of AAC: MPEG 4, then the three profiles of MPEG 2. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);

/**
 * Codec named by the entries of a sample description box (`stsd`). Where there are several, the one with the longest
 * samples bounds all. Undefined where one of them is not known here.
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
  // The entry `alac` has a box `alac` inside, which begins with the samples of a packet and ends with the sample rate.
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
  // These flags mark a stream that depends on another one, or lies outside of this file.
  if ((flags & 0xe0) !== 0) return undefined;
  const config = descriptor(es, 3, DECODER_CONFIG);
  if (!config || config.length < 13 || !AAC.has(config.readUInt8(0))) return undefined;
  const specific = descriptor(config, 13, DECODER_SPECIFIC);
  const found = specific && aacConfig(specific);
  return found && { seconds: AAC_SAMPLES / found.rate, mostBytes: found.channels * AAC_CHANNEL_BYTES };
}

/** Content of the MPEG-4 descriptor at `at`; undefined where it has another tag or a size of more than four bytes. */
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
