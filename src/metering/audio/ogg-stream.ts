import { streamInfo } from './flac.ts';
import { flac, opus, PACKET_HEAD_BYTES, type PacketCodec, vorbis } from './packet-codec.ts';

/** Granule position of a page on which no packet ends (RFC 3533). */
const NO_GRANULE = (1n << 64n) - 1n;
const OPUS_HZ = 48_000;
/** Bytes of the first packet of a stream that identify and set up each codec that is known here. */
const IDENTIFICATION_BYTES = 64;
/** First bytes of streams without sound, which add nothing to the length: Skeleton, video and subtitles. */
const SILENT = ['fishead\0', '\x80theora', '\x01video', 'OVP80', 'BBCD', '\x80kate', 'CMML'];

/** First bytes of the second packet of Opus, which holds tags and no sound. */
const OPUS_TAGS = 'OpusTags';

/** A codec's scale of the granule position, which is the time at the end of a page. */
interface Granules {
  /** Units in a second. */
  readonly rate: number;
  /** Units at the beginning that decoders drop ("pre-skip", RFC 7845). */
  readonly skip: number;
}

/** One logical stream of an Ogg file, with the length of its packets so far. */
export class OggStream {
  seconds = 0;
  /** True where the first packet is of a codec that is not known here. */
  isUnknown = false;
  #codec: PacketCodec | undefined;
  #granules: Granules | undefined;
  /** Granule position at which the stream begins: not 0 where it was cut out of a longer recording. */
  #from: number | undefined;
  /** Largest granule position so far. */
  #to = 0;
  #isIdentified = false;
  #packets = 0;
  /** First bytes of the packet that is not complete yet. */
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of that packet so far. */
  #bytes = 0;

  get isBound(): boolean {
    return this.#codec?.isBound ?? false;
  }

  /** Seconds by the granule positions, which are this format's statement of its length; undefined where it has none. */
  get stated(): number | undefined {
    if (!this.#granules || this.#from === undefined) return undefined;
    return (this.#to - this.#from - this.#granules.skip) / this.#granules.rate;
  }

  /** Takes the next piece of a packet, which `isEnd` completes. A packet can go on in the next page of its stream. */
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

  /** Ends the packet before, if it is not complete: a page says that it begins with a new one. */
  packetStart(): void {
    if (this.#bytes > 0) this.piece(Buffer.alloc(0), true);
  }

  /** Takes the granule position of a page; `before` is `seconds` as it was before the packets of this page. */
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
