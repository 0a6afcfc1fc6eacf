import { type Answer, type AnswerOptions, CREATED_S, cut, json, typedEvents } from './answer.ts';
import { countIn, tokensIn } from './read-request.ts';

/** One pixel, as a PNG. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOKENS_PER_IMAGE = 100;

/** Answers `/v1/images/…` with images of one pixel. `event` prefixes the names of stream events. */
export function answerImages(
  fields: Record<string, unknown>,
  event: 'image_generation' | 'image_edit',
  options: AnswerOptions,
): Answer {
  const images = countIn(fields.n) ?? 1;
  const prompt = typeof fields.prompt === 'string' ? tokensIn(fields.prompt) : 0;
  const usageOf = (count: number) =>
    options.usage ?? {
      input_tokens: prompt,
      output_tokens: count * TOKENS_PER_IMAGE,
      total_tokens: prompt + count * TOKENS_PER_IMAGE,
    };
  const reported = (count: number) => {
    const usage = usageOf(count);
    return usage ? { usage } : {};
  };
  if (fields.stream === true || fields.stream === 'true') {
    const partials = countIn(fields.partial_images) ?? 0;
    const one = [
      ...Array.from({ length: partials }, (_, index) => ({
        type: `${event}.partial_image`,
        partial_image_index: index,
        b64_json: PNG,
      })),
      { type: `${event}.completed`, b64_json: PNG, ...reported(1) },
    ];
    return typedEvents(Array.from({ length: images }, () => one).flat());
  }
  return json(200, {
    created: CREATED_S,
    data: Array.from({ length: images }, () => ({ b64_json: PNG })),
    ...reported(images),
  });
}

const SECONDS_PER_CHARACTER = 0.05;
const MAX_SECONDS = 10;
const PIECE_BYTES = 16 * 1024;

/** Answers `/v1/audio/speech` with a tone of 50 ms per character, as a WAV file in pieces or as an event stream. */
export function answerSpeech(fields: Record<string, unknown>, options: AnswerOptions): Answer {
  const input = String(fields.input ?? '');
  const wav = toneWav(Math.min(MAX_SECONDS, [...input].length * SECONDS_PER_CHARACTER));
  const pieces = Array.from({ length: Math.ceil(wav.length / PIECE_BYTES) }, (_, index) =>
    wav.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );
  if (fields.stream_format !== 'sse') {
    return { status: 200, headers: { 'content-type': 'audio/wav', 'transfer-encoding': 'chunked' }, pieces };
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

const BYTES_PER_SECOND = 16_000;

/** Transcript in the requested format; its text states the audio's length. The sound is not analyzed. */
export function answerTranscript(fields: Record<string, unknown>, options: AnswerOptions): Answer {
  const audio = Buffer.isBuffer(fields.file) ? fields.file : Buffer.alloc(0);
  const exact = wavSeconds(audio) ?? audio.length / BYTES_PER_SECOND;
  const seconds = Math.ceil(exact);
  const text = options.text ?? `This is Tollgate's built-in demo model. You sent ${seconds} s of audio.`;
  const usage = options.usage ?? { type: 'duration', seconds };
  const reported = usage ? { usage } : {};
  if (fields.stream === true || fields.stream === 'true') {
    const words = cut(text);
    return typedEvents([
      ...words.map((delta) => ({ type: 'transcript.text.delta', delta })),
      { type: 'transcript.text.done', text, ...reported },
    ]);
  }
  switch (fields.response_format) {
    case 'text':
      return plain('text/plain; charset=utf-8', `${text}\n`);
    case 'srt':
      return plain('text/plain; charset=utf-8', `1\n00:00:00,000 --> ${clock(seconds, ',')}\n${text}\n\n`);
    case 'vtt':
      return plain(
        'text/vtt; charset=utf-8',
        `WEBVTT\n\n00:00:00.000 --> ${clock(seconds, '.')}\n${text}\n\n`,
      );
    case 'verbose_json':
      return json(200, {
        task: 'transcribe',
        language: 'english',
        duration: exact,
        text,
        segments: [],
        ...reported,
      });
    default:
      return json(200, { text, ...reported });
  }
}

function plain(type: string, text: string): Answer {
  return { status: 200, headers: { 'content-type': type }, pieces: [text] };
}

function clock(seconds: number, mark: string): string {
  return `${new Date(seconds * 1_000).toISOString().slice(11, 19)}${mark}000`;
}

const HEADER_BYTES = 44;
const RATE_HZ = 8_000;
const BYTES_PER_SAMPLE = 2;
const TONE_HZ = 440;
const LOUDNESS = 8_000;

/** A tone as a WAV file: one channel, 16 bit, 8 kHz. */
export function toneWav(seconds: number): Buffer {
  const samples = Math.round(seconds * RATE_HZ);
  const bytes = samples * BYTES_PER_SAMPLE;
  const wav = Buffer.alloc(HEADER_BYTES + bytes);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE_HZ, 24);
  wav.writeUInt32LE(RATE_HZ * BYTES_PER_SAMPLE, 28);
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  wav.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes, 40);
  for (let sample = 0; sample < samples; sample++) {
    const value = Math.round(LOUDNESS * Math.sin((2 * Math.PI * TONE_HZ * sample) / RATE_HZ));
    wav.writeInt16LE(value, HEADER_BYTES + sample * BYTES_PER_SAMPLE);
  }
  return wav;
}

/** Length of a plain WAV file in seconds, from its header; undefined for other bytes. */
export function wavSeconds(wav: Buffer): number | undefined {
  if (wav.length < HEADER_BYTES || wav.toString('latin1', 8, 16) !== 'WAVEfmt ') return undefined;
  return (wav.length - HEADER_BYTES) / wav.readUInt32LE(28);
}
