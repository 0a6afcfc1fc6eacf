import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { AnswerSink, UpstreamAnswer } from './exchange.ts';

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
]);
/** The others of IANA's HTTP Content Coding Registry. */
const UNREADABLE = new Set(['aes128gcm', 'compress', 'x-compress', 'dcb', 'dcz', 'exi', 'pack200-gzip']);
const MAX_CODINGS = 4;

/**
 * The codings of an answer, in the order in which they were applied; undefined if one can't be read. A name that is not
 * registered, such as `utf-8` or `none`, stands for no coding.
 */
export function codingsOf({ headers }: Pick<UpstreamAnswer, 'headers'>): readonly Coding[] | undefined {
  const value = headers['content-encoding'];
  if (value === undefined) return NO_CODINGS;
  const names = String(value)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const codings = names.flatMap((name) => CODINGS.get(name) ?? []);
  return names.some((name) => UNREADABLE.has(name)) || codings.length > MAX_CODINGS ? undefined : codings;
}

const NO_CODINGS: readonly Coding[] = [];

/** The head of an answer after decoding. */
export function decodedHead(answer: UpstreamAnswer, isDecoded = true): UpstreamAnswer {
  const { 'content-encoding': coding, 'content-length': length, ...headers } = answer.headers;
  if (coding === undefined && !isDecoded) return answer;
  return {
    ...answer,
    headers: isDecoded || length === undefined ? headers : { ...headers, 'content-length': length },
  };
}

/** How an answer is decoded. */
interface Decoding {
  /** From `codingsOf`; undefined passes the answer on encoded. */
  readonly codings: readonly Coding[] | undefined;
  /**
   * The content can be any bytes: it is not taken for gzip unless declared, and a gzip that is cut off is an error. Other
   * content shows by itself whether it is whole.
   */
  readonly isBinary: boolean;
  /** The client's response, whose back-pressure holds up the decoder. */
  readonly raw?: ServerResponse;
  /**
   * Called once, when the first bytes of the decoded content are about to follow, or its end. The sink may have the
   * source send the rest to another sink.
   */
  open(answer: UpstreamAnswer, source: Source): AnswerSink;
}

/**
 * Passes an answer on decoded. Some upstreams compress although the gateway asks for identity: the relay must read the
 * answer to charge it, and the client's accepted encodings were not sent upstream. The first two bytes decide; an answer
 * without coding then goes directly to its sink.
 */
export function decode(encoded: UpstreamAnswer, { codings, isBinary, raw, open }: Decoding): void {
  const { body } = encoded;
  body.pipe(
    new DecodingSink(body, {
      codings: codings ?? NO_CODINGS,
      isBinary,
      mayHideGzip: codings?.length === 0 && !isBinary,
      open: (source) => {
        const isDecoded = source !== body;
        if (isDecoded && raw) {
          raw.on('drain', () => source.resume());
          // After the client has left, its back-pressure must not stop reading for the usage.
          raw.once('close', () => source.resume());
        }
        return open(codings ? decodedHead(encoded, isDecoded) : encoded, source);
      },
    }),
  );
}

/** Where bytes come from: the exchange, or the decoder of the coding around them. */
export interface Source {
  pipe(sink: AnswerSink): void;
  resume(): void;
  cancel(reason: Error): void;
}

interface Layers extends Pick<Decoding, 'isBinary'> {
  /** Those that are left; the last one is decoded first. */
  readonly codings: readonly Coding[];
  /** Whether the content may be gzip without saying so. */
  readonly mayHideGzip: boolean;
  open(source: Source): AnswerSink;
}

const FIRST_BYTES = 2;
const GZIP = 0x1f;
const NOTHING = Buffer.alloc(0);

/**
 * Decodes one coding, and passes on to a sink for the next. Decoding is incremental, with back-pressure on both sides,
 * so a small answer can't expand to more than a buffer or two in memory. States: waiting for the first bytes → decoding →
 * over, or waiting → out of the way.
 */
class DecodingSink implements AnswerSink, Source {
  readonly #source: Source;
  readonly #layers: Layers;
  #first: Buffer = NOTHING;
  #decoder: Transform | undefined;
  #sink: AnswerSink | undefined;
  #isOver = false;

  constructor(source: Source, layers: Layers) {
    this.#source = source;
    this.#layers = layers;
  }

  data(chunk: Buffer): boolean {
    if (this.#decoder) return this.#isOver || this.#decoder.write(chunk);
    this.#first = this.#first.length === 0 ? chunk : Buffer.concat([this.#first, chunk]);
    return this.#isUndecided() || this.#begin();
  }

  /** A single byte says enough if it can't be gzip's. */
  #isUndecided(): boolean {
    if (this.#first.length >= FIRST_BYTES) return false;
    return this.#layers.codings.length > 0 || (this.#layers.mayHideGzip && this.#first[0] === GZIP);
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#first.length > 0 && !this.#decoder) this.#begin();
    if (this.#decoder) this.#decoder.end();
    else this.#finish((sink) => sink.end());
  }

  error(error: Error): void {
    if (this.#isOver) return;
    if (this.#first.length > 0 && !this.#decoder) this.#begin();
    const finish = () => this.#finish((sink) => sink.error(error));
    // Deliver received data first, unless the client's back-pressure holds it up.
    if (!this.#decoder || this.#decoder.isPaused()) finish();
    else this.#decoder.write(NOTHING, finish);
  }

  pipe(sink: AnswerSink): void {
    this.#sink = sink;
  }

  resume(): void {
    this.#decoder?.resume();
  }

  cancel(reason: Error): void {
    this.#source.cancel(reason);
  }

  /** Decides by the first bytes, and takes them. */
  #begin(): boolean {
    const first = this.#first;
    const { codings, mayHideGzip, isBinary } = this.#layers;
    const coding = codings.at(-1) ?? (mayHideGzip ? 'gzip' : undefined);
    const decoder = coding && decoderOf(coding, first, isBinary);
    if (!decoder) {
      const sink = this.#opened();
      this.#source.pipe(sink);
      return sink.data(first);
    }
    this.#decoder = decoder;
    decoder.on('data', (part: Buffer) => {
      if (!this.#isOver && !this.#opened().data(part)) decoder.pause();
    });
    decoder.on('end', () => this.#finish((sink) => sink.end()));
    decoder.on('error', (error) => {
      this.#finish((sink) => sink.error(error));
      this.#source.cancel(error);
    });
    decoder.on('drain', () => this.#source.resume());
    return decoder.write(first);
  }

  #opened(): AnswerSink {
    if (!this.#sink) {
      const source = this.#decoder ? this : this.#source;
      const codings = this.#layers.codings.slice(0, -1);
      this.#sink =
        codings.length > 0
          ? new DecodingSink(source, { ...this.#layers, codings })
          : this.#layers.open(source);
    }
    return this.#sink;
  }

  #finish(end: (sink: AnswerSink) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    end(this.#opened());
    this.#decoder?.destroy();
  }
}

/** Decoder of a coding. Undefined if the first bytes show that the coding was not applied: some proxies decode and leave the header. */
export function decoderOf(coding: Coding, [a = 0, b = 0]: Buffer, isBinary: boolean): Transform | undefined {
  // Without it, an answer whose trailer is missing is an error, although all of its content has come.
  const options = isBinary ? {} : { finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip') return a === GZIP && b === 0x8b ? createGunzip(options) : undefined;
  if (coding === 'zstd') return a === 0x28 && b === 0xb5 ? createZstdDecompress() : undefined;
  if (coding === 'br') return createBrotliDecompress();
  // RFC 1950: the method, and a check of both bytes. Some servers send deflate without this frame.
  const isFramed = (a & 0x0f) === 8 && ((a << 8) | b) % 31 === 0;
  return isFramed ? createInflate(options) : createInflateRaw(options);
}
