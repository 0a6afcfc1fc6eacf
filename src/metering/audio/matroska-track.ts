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

/** A track of a Matroska file, with the length of its packets so far. */
export class MatroskaTrack {
  readonly number: number;
  readonly isAudio: boolean;
  readonly #codec: PacketCodec | undefined;
  /** Set once a packet came whose length the codec cannot bound. */
  #isStrange = false;
  /** Sum of the packets so far. */
  seconds = 0;

  constructor(number: number, isAudio: boolean, codec: PacketCodec | undefined) {
    this.number = number;
    this.isAudio = isAudio;
    this.#codec = codec;
  }

  /** True where the codec is not known here, or a packet's length could not be bounded. */
  get isUnknown(): boolean {
    return this.#isStrange || !this.#codec;
  }

  get isBound(): boolean {
    return this.#codec?.isBound ?? false;
  }

  /** Adds the packet that begins with `head` and has `bytes` in all. */
  packet(head: Buffer, bytes: number): void {
    const seconds = this.#codec?.seconds(head, bytes);
    if (seconds === undefined) this.#isStrange = true;
    else this.seconds += seconds;
  }
}

/** Tracks described by the content of a `Tracks` element; undefined where it is malformed or says something twice. */
export function tracksIn(content: Buffer): MatroskaTrack[] | undefined {
  const tracks: MatroskaTrack[] = [];
  for (const entry of childrenOf(content, TRACK_ENTRY)?.get(TRACK_ENTRY) ?? []) {
    const fields = childrenOf(entry);
    if (!fields) return undefined;
    const field = (id: number) => fields.get(id)?.[0] ?? Buffer.alloc(0);
    const codecId = field(CODEC).toString('latin1').replace(/\0+$/, '');
    // A copy, because the codec keeps these bytes and `content` is a view of the whole window.
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
  // The setup is the beginning of a FLAC file: `fLaC`, the 4-byte head of a metadata block, STREAMINFO.
  if (id === 'A_FLAC') return setup.length >= 26 ? flac(streamInfo(setup.subarray(8)).rate) : undefined;
  if (id !== 'A_VORBIS') return undefined;
  // The setup has three headers: a count byte, the sizes of the first two as sums of bytes up to one below 255, and
  // then the headers themselves, of which the first is the identification.
  let at = 1;
  for (let sizes = 0; sizes < 2 && at < setup.length; at++) if (setup[at] !== 255) sizes++;
  return vorbis(setup.subarray(at));
}
