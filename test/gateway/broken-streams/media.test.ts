import { type Expected, type Piece, tokensOf } from '../../helper/start/broken-stream.ts';
import { silentWav } from '../../helper/start/media-gateway.ts';
import { breakEverywhere, type StreamFormat } from './every-break.ts';

const event = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const ERROR = event({
  type: 'error',
  error: { type: 'image_generation_server_error', code: 'image_generation_failed', message: 'It failed.' },
});
/** What `maxOutputTokens` is in media-gateway.ts. */
const MOST_OUTPUT = 500;

/**
 * Two pictures with one partial image each. The middle is after the first picture and the second one's partial image.
 */
const pictures: Piece[] = [0, 1].flatMap(() => [
  {
    sent: event({
      type: 'image_generation.partial_image',
      b64_json: 'iVBORw0KGgo='.repeat(500),
      created_at: 1_620_000_000,
      size: '1024x1024',
      quality: 'high',
      background: 'transparent',
      output_format: 'png',
      partial_image_index: 0,
    }),
  },
  {
    sent: event({
      type: 'image_generation.completed',
      b64_json: 'iVBORw0KGgo='.repeat(1_000),
      created_at: 1_620_000_000,
      size: '1024x1024',
      quality: 'high',
      background: 'transparent',
      output_format: 'png',
      usage: {
        total_tokens: 100,
        input_tokens: 50,
        output_tokens: 50,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      },
    }),
  },
]);

function images(
  name: string,
  model: string,
  places: Pick<StreamFormat, 'middle' | 'beforeUsage'>,
  cost: (begun: number) => Expected,
): StreamFormat {
  return {
    name,
    path: '/v1/images/generations',
    body: JSON.stringify({ model, prompt: 'A cat', stream: true, n: 2, partial_images: 1 }),
    pieces: pictures,
    ...places,
    // Each picture is two pieces; the first one begins it.
    cost: (sent) => cost(Math.ceil(sent.length / 2)),
    asked: { ...cost(2), estimated: true },
    error: ERROR,
  };
}

const sound: Piece[] = [0, 1, 2].map((part) => ({
  sent: event({ type: 'speech.audio.delta', audio: Buffer.alloc(900, part).toString('base64') }),
}));
const INPUT = 'Grüße 😀';
const speech: StreamFormat = {
  name: 'speech as bytes',
  path: '/v1/audio/speech',
  body: JSON.stringify({ model: 'voice', voice: 'alloy', input: INPUT }),
  pieces: [1, 2, 3, 4].map((byte) => ({ sent: Buffer.alloc(2_000, byte) })),
  middle: 2,
  beforeUsage: 3,
  cost: () => ({ usage: { characters: 7 }, estimated: false }),
  asked: { usage: { characters: 7 }, estimated: true },
  contentType: 'audio/mpeg',
};

const WORDS = ['I see', ' skies of', ' blue and', ' clouds', ' of white'];
const transcript: Piece[] = [
  ...WORDS.map((delta) => ({
    sent: event({ type: 'transcript.text.delta', delta, logprobs: [] }),
    says: delta,
  })),
  {
    sent: event({
      type: 'transcript.text.done',
      text: WORDS.join(''),
      usage: {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { text_tokens: 0, audio_tokens: 14 },
        output_tokens: 45,
        total_tokens: 59,
      },
    }),
  },
];

function transcription(model: string, cost: (pieces: readonly Piece[]) => Expected): StreamFormat {
  return {
    name: `a transcript by ${model}`,
    path: '/v1/audio/transcriptions',
    body: () => {
      const form = new FormData();
      form.append('file', new Blob([silentWav(3)]), 'audio.wav');
      form.append('model', model);
      form.append('stream', 'true');
      return form;
    },
    pieces: transcript,
    middle: 3,
    beforeUsage: 5,
    cost,
    asked: { ...cost([]), estimated: true },
    error: ERROR,
  };
}

const events: StreamFormat = {
  ...speech,
  name: 'speech as events',
  body: JSON.stringify({ model: 'voice', voice: 'alloy', input: INPUT, stream_format: 'sse' }),
  pieces: [
    ...sound,
    {
      sent: event({
        type: 'speech.audio.done',
        usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 },
      }),
    },
  ],
  contentType: 'text/event-stream',
  error: ERROR,
};

breakEverywhere([
  images('pictures', 'picture', { middle: 3, beforeUsage: 3 }, (begun) => ({
    usage: { images: begun },
    estimated: false,
  })),
  images('pictures by token, of which one is begun', 'painter', { middle: 1, beforeUsage: 1 }, (begun) => ({
    usage: { images: begun, outputImage: begun * MOST_OUTPUT },
    tokens: { input: 2 },
    estimated: true,
  })),
  speech,
  events,
  {
    ...events,
    name: 'speech as events, by token',
    body: JSON.stringify({ model: 'talker', voice: 'alloy', input: INPUT, stream_format: 'sse' }),
    asked: { usage: { characters: 7, outputAudio: MOST_OUTPUT }, tokens: { input: 4 }, estimated: true },
    // Sound cannot be converted back into tokens, so the most that it can be is charged.
    cost: () => ({
      usage: { characters: 7, outputAudio: MOST_OUTPUT },
      tokens: { input: 4 },
      estimated: true,
    }),
  },
  transcription('ears', () => ({ usage: { audioSeconds: 3 }, estimated: false })),
  transcription('scribe', (sent) => ({
    usage: { audioSeconds: 3, inputAudio: 30 },
    tokens: { output: tokensOf(sent) },
    estimated: true,
  })),
]);
