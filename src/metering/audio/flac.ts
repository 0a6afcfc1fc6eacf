import type { ByteSource } from '../byte-source.ts';

/** Longest frame header with CRC (RFC 9639, section 9.1). */
export const FLAC_HEAD_BYTES = 16;
/** Sample rates in Hz by rate code; code 0 refers to STREAMINFO. */
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const CRC8 = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? (crc << 1) ^ 0x107 : crc << 1;
  return crc;
});
/** Most metadata blocks walked; no genuine file has as many. */
const MAX_BLOCKS = 1_000;
const STREAMINFO_BYTES = 34;

/** STREAMINFO fields that affect the length. */
interface StreamInfo {
  /** Sample rate in Hz. */
  readonly rate: number;
  /** Samples per channel of the whole stream; 0 if the encoder did not know. */
  readonly samples: number;
}

/** Reads a STREAMINFO block. `block` needs at least its first 18 bytes. */
export function streamInfo(block: Buffer): StreamInfo {
  const rate = block.readUIntBE(10, 3) >> 4;
  return { rate, samples: ((block[13] as number) & 15) * 2 ** 32 + block.readUInt32BE(14) };
}

interface FlacFrame {
  readonly seconds: number;
  /** Blocking strategy, rate, channels and bits as one number, equal for all frames of a genuine stream. */
  readonly kind: number;
}

/**
 * The FLAC frame whose header is at `at`; undefined without a header with a valid CRC. `streamRate`: sample rate of
 * STREAMINFO, for frames without one; 0 if unknown.
 */
export function flacFrameAt(audio: Buffer, at: number, streamRate: number): FlacFrame | undefined {
  if (audio[at] !== 0xff || ((audio[at + 1] ?? 0) & 0xfe) !== 0xf8 || at + 6 > audio.length) return undefined;
  const third = audio[at + 2] as number;
  const sizeCode = third >> 4;
  const rateCode = third & 15;
  if (sizeCode === 0 || rateCode === 15) return undefined;
  const lead = audio[at + 4] as number;
  let next = at + 4 + (lead < 0x80 ? 1 : Math.max(1, Math.clz32(~(lead << 24))));
  const sizeAt = next;
  next += sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateAt = next;
  next += rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  if (next >= audio.length) return undefined;
  let crc = 0;
  for (let byte = at; byte < next; byte++) crc = CRC8[crc ^ (audio[byte] as number)] as number;
  if (crc !== audio[next]) return undefined;
  const rate = frameRate(audio, rateCode, rateAt) || streamRate;
  const samples = blockSamples(audio, sizeCode, sizeAt);
  const channels = (audio[at + 3] as number) >> 4;
  // Codes 8 to 10 are stereo with one channel stored as a difference. Encoders may switch among them and 1.
  const layout = ((channels < 8 ? channels : 1) << 8) | ((audio[at + 3] as number) & 0x0e);
  const second = audio[at + 1] as number;
  return {
    seconds: samples / rate,
    kind: (second << 16) | layout | (rateCode << 4),
  };
}

function blockSamples(audio: Buffer, code: number, at: number): number {
  if (code === 1) return 192;
  if (code < 6) return 576 << (code - 2);
  if (code === 6) return (audio[at] as number) + 1;
  return code === 7 ? audio.readUInt16BE(at) + 1 : 256 << (code - 8);
}

function frameRate(audio: Buffer, code: number, at: number): number {
  if (code < 12) return RATES[code] ?? 0;
  if (code === 12) return (audio[at] as number) * 1_000;
  return audio.readUInt16BE(at) * (code === 13 ? 1 : 10);
}

/** What precedes the frames of a FLAC file. */
interface FlacHead {
  /** Length in STREAMINFO; undefined if the encoder did not know. */
  readonly seconds: number | undefined;
  readonly rate: number;
  readonly framesAt: number;
}

/** Reads the metadata from `fLaC` on; undefined if STREAMINFO or the end of the metadata is missing. */
export async function flacHead(audio: ByteSource, start: number): Promise<FlacHead | undefined> {
  let at = start + 4;
  let info: StreamInfo | undefined;
  for (let blocks = 0; blocks < MAX_BLOCKS; blocks++) {
    const head = await audio.read(at, at + 4 + STREAMINFO_BYTES);
    if (head.length < 4) return undefined;
    const type = head.readUInt8(0);
    if ((type & 0x7f) === 0 && head.length === 4 + STREAMINFO_BYTES) info ??= streamInfo(head.subarray(4));
    at += 4 + head.readUIntBE(1, 3);
    if ((type & 0x80) === 0) continue;
    return (
      info && {
        seconds: info.samples > 0 ? info.samples / info.rate : undefined,
        rate: info.rate,
        framesAt: at,
      }
    );
  }
  return undefined;
}
