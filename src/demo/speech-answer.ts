import { type Answer, type AnswerOptions, typedEvents } from './answer.ts';
import { tokensIn } from './chat-request.ts';
import { toneWav } from './wav.ts';

const SECONDS_PER_CHARACTER = 0.05;
const MAX_SECONDS = 10;
const PIECE_BYTES = 16 * 1024;

/**
 * The answer of `/v1/audio/speech`: a tone of 50 ms for each character, as a WAV file in pieces or as a stream of
 * events.
 */
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
