import { childrenOf, unsigned } from './ebml.ts';
import { streamInfo } from './flac.ts';
import { aac, aacConfig, flac, mpegAudio, opus, type PacketCodec, vorbis } from './packet-codec.ts';

const TRACK_ENTRY = 0xae;
const NUMBER = 0xd7;
const TYPE = 0x83;
const CODEC = 0x86;
const PRIVATE = 0x63a2;
const ENCODINGS = 0x6d80;
const AUDIO = 2;

/** A track of a Matroska file, and the sum of its packets. */
export class MatroskaTrack {
  readonly number: number;
  readonly isAudio: boolean;
  readonly #codec: PacketCodec | undefined;
  #isStrange = false;
  seconds = 0;

  constructor(number: number, isAudio: boolean, codec: PacketCodec | undefined) {
    this.number = number;
    this.isAudio = isAudio;
    this.#codec = codec;
  }

  /** Its length cannot be told. */
  get isUnknown(): boolean {
    return this.#isStrange || !this.#codec;
  }

  get isBound(): boolean {
    return this.#codec?.isBound ?? false;
  }

  packet(head: Buffer, bytes: number): void {
    const seconds = this.#codec?.seconds(head, bytes);
    if (seconds === undefined) this.#isStrange = true;
    else this.seconds += seconds;
  }
}

/** The tracks that the content of a `Tracks` element describes; undefined where decoders could read it in two ways. */
export function tracksIn(content: Buffer): MatroskaTrack[] | undefined {
  const tracks: MatroskaTrack[] = [];
  for (const entry of childrenOf(content, TRACK_ENTRY)?.get(TRACK_ENTRY) ?? []) {
    const fields = childrenOf(entry);
    if (!fields) return undefined;
    const field = (id: number) => fields.get(id)?.[0] ?? Buffer.alloc(0);
    const codecId = field(CODEC).toString('latin1').replace(/\0+$/, '');
    // Its bytes outlive the window that they stand in.
    const codec = fields.has(ENCODINGS) ? undefined : codecOf(codecId, Buffer.from(field(PRIVATE)));
    const isAudio = unsigned(field(TYPE)) === AUDIO || codecId.startsWith('A_');
    tracks.push(new MatroskaTrack(unsigned(field(NUMBER)), isAudio, codec));
  }
  return tracks;
}

function codecOf(id: string, setup: Buffer): PacketCodec | undefined {
  if (id === 'A_OPUS') return opus;
  if (id.startsWith('A_MPEG/L')) return mpegAudio;
  if (id.startsWith('A_AAC')) {
    const config = aacConfig(setup);
    return config && aac(config);
  }
  // `fLaC`, the head of a block, STREAMINFO.
  if (id === 'A_FLAC') return setup.length >= 26 ? flac(streamInfo(setup.subarray(8)).rate) : undefined;
  if (id !== 'A_VORBIS') return undefined;
  // Three headers: their number less one, the sizes of the first two in pieces of 255, the headers.
  let at = 1;
  for (let sizes = 0; sizes < 2 && at < setup.length; at++) if (setup[at] !== 255) sizes++;
  return vorbis(setup.subarray(at));
}
