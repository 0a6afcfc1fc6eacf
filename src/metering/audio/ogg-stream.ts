import { streamInfo } from './flac.ts';
import { flac, opus, PACKET_HEAD_BYTES, type PacketCodec, vorbis } from './packet-codec.ts';

const NO_GRANULE = (1n << 64n) - 1n;
const OPUS_HZ = 48_000;
/** Enough of a first packet for every codec that is known here. */
const IDENTIFICATION_BYTES = 64;
/** What else is in Ogg files: Skeleton, and pictures. */
const SILENT = ['fishead\0', '\x80theora', '\x01video', 'OVP80', 'BBCD', '\x80kate', 'CMML'];

/** The second packet of Opus, which is no sound. */
const OPUS_TAGS = 'OpusTags';

interface Granules {
  /** Units of the granule position in a second. */
  readonly rate: number;
  /** Samples that decoders drop at the beginning. */
  readonly skip: number;
}

/** One logical stream of an Ogg file: the packets that its pages bring. */
export class OggStream {
  seconds = 0;
  isUnknown = false;
  #codec: PacketCodec | undefined;
  #granules: Granules | undefined;
  /** Granule position at which the stream begins: one that was cut out of a longer one does not begin at 0. */
  #from: number | undefined;
  #to = 0;
  #isIdentified = false;
  #packets = 0;
  /** The first bytes of a packet that is not complete, and how many it has until now. */
  #head: Buffer = Buffer.alloc(0);
  #bytes = 0;

  get isBound(): boolean {
    return this.#codec?.isBound ?? false;
  }

  /** Seconds by the granule position; undefined: it states none. */
  get stated(): number | undefined {
    if (!this.#granules || this.#from === undefined) return undefined;
    return (this.#to - this.#from - this.#granules.skip) / this.#granules.rate;
  }

  /** A piece of a packet; `isEnd`: its last. */
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

  /** A packet begins: one that had no end before it is whole as it stands. */
  packetStart(): void {
    if (this.#bytes > 0) this.piece(Buffer.alloc(0), true);
  }

  /** The end of a page, with its granule position. `before`: seconds of the stream before it. */
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
