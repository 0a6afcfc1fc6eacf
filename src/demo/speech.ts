import { type Answer, type AnswerOptions, failure, typedEvents } from './answer.ts';
import { tokensIn } from './read-request.ts';

const SECONDS_PER_CHARACTER = 0.05;
const MAX_SECONDS = 10;
const PIECE_BYTES = 16 * 1024;
const HEADER_BYTES = 44;
const RATE_HZ = 8_000;
/** Rate of OpenAI's `pcm`, which no header states. */
const PCM_RATE_HZ = 24_000;
const BYTES_PER_SAMPLE = 2;
const TONE_HZ = 440;
const LOUDNESS = 8_000;

/** A frame of silence, mono, at 48 kHz, and its length in samples. */
const MP3_FRAME = {
  bytes: Buffer.concat([Buffer.from('fffb14c4', 'hex'), Buffer.alloc(92)]),
  samples: 1_152,
};
const AAC_FRAME = { bytes: Buffer.from('fff14c4001bffc00c800802380', 'hex'), samples: 1_024 };
const FRAME_RATE_HZ = 48_000;

/** Sound of a length in seconds, in each format that the demo makes: a tone; silence where a tone needs an encoder. */
const FORMATS: ReadonlyMap<unknown, { readonly type: string; readonly make: (seconds: number) => Buffer }> =
  new Map([
    ['wav', { type: 'audio/wav', make: (seconds) => toneWav(seconds) }],
    ['pcm', { type: 'audio/pcm', make: (seconds) => toneWav(seconds, PCM_RATE_HZ).subarray(HEADER_BYTES) }],
    ['mp3', { type: 'audio/mpeg', make: (seconds) => frames(MP3_FRAME, seconds) }],
    ['aac', { type: 'audio/aac', make: (seconds) => frames(AAC_FRAME, seconds) }],
  ]);

/**
 * Answers `/v1/audio/speech` with a sound of 50 ms per character in the requested format, WAV by default: a file in
 * pieces, or an event stream.
 */
export function answerSpeech(fields: Record<string, unknown>, options: AnswerOptions): Answer {
  const format = FORMATS.get(fields.response_format ?? 'wav');
  if (!format) {
    const known = [...FORMATS.keys()].join(', ');
    return failure(400, `The demo provider has no such response_format. Use one of: ${known}.`);
  }
  const input = String(fields.input ?? '');
  const sound = format.make(Math.min(MAX_SECONDS, [...input].length * SECONDS_PER_CHARACTER));
  const pieces = Array.from({ length: Math.ceil(sound.length / PIECE_BYTES) }, (_, index) =>
    sound.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );
  if (fields.stream_format !== 'sse') {
    const headers = { 'content-type': format.type, 'transfer-encoding': 'chunked' };
    return { status: 200, headers, pieces };
  }
  const usage = options.usage ?? {
    input_tokens: tokensIn(input),
    output_tokens: pieces.length,
    total_tokens: tokensIn(input) + pieces.length,
  };
  return typedEvents([
    ...pieces.map((piece) => ({ type: 'speech.audio.delta', audio: piece.toString('base64') })),
    { type: 'speech.audio.done', ...(usage ? { usage } : {}) },
  ]);
}

function frames({ bytes, samples }: typeof MP3_FRAME, seconds: number): Buffer {
  const count = Math.ceil((seconds * FRAME_RATE_HZ) / samples);
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

/** A tone as a WAV file: one channel, 16 bit. */
export function toneWav(seconds: number, rateHz = RATE_HZ): Buffer {
  const samples = Math.round(seconds * rateHz);
  const bytes = samples * BYTES_PER_SAMPLE;
  const wav = Buffer.alloc(HEADER_BYTES + bytes);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(rateHz, 24);
  wav.writeUInt32LE(rateHz * BYTES_PER_SAMPLE, 28);
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  wav.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes, 40);
  for (let sample = 0; sample < samples; sample++) {
    const value = Math.round(LOUDNESS * Math.sin((2 * Math.PI * TONE_HZ * sample) / rateHz));
    wav.writeInt16LE(value, HEADER_BYTES + sample * BYTES_PER_SAMPLE);
  }
  return wav;
}

/** Length of a plain WAV file in seconds, from its header; undefined for other bytes. */
export function wavSeconds(wav: Buffer): number | undefined {
  if (wav.length < HEADER_BYTES || wav.toString('latin1', 8, 16) !== 'WAVEfmt ') return undefined;
  return (wav.length - HEADER_BYTES) / wav.readUInt32LE(28);
}
