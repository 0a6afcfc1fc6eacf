import { invalidField } from '../domain/errors.ts';
import { holdFor } from '../domain/price.ts';
import { MEASURED_FORMATS } from './audio/measure-audio.ts';
import type { Meter } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { isPricedByToken } from './priced-by-token.ts';
import { saysError } from './says-error.ts';
import { TranscriptionStream } from './transcription-stream.ts';
import { transcriptionUsage } from './transcription-usage.ts';

/** What is no audio that is known here is taken to be as long as its bytes last at 6 kbit/s: MP3 has 8 kbit/s at least. */
const LOWEST_BYTES_PER_SECOND = 750;
/** Most tokens that models make of a second of audio: Whisper's encoder makes 50, gpt-4o-transcribe 10. */
const TOKENS_PER_SECOND = 50;
/** Answers that are text and report nothing; what was said in them could look like a report. */
const TEXT_FORMATS: ReadonlySet<unknown> = new Set(['text', 'srt', 'vtt']);

function boundSeconds({ audio }: MeteredBody): number {
  return audio?.seconds ?? Math.ceil((audio?.bytes ?? 0) / LOWEST_BYTES_PER_SECOND);
}

/**
 * Audio that nothing bounds but its size is not transcribed where its length costs something: an hour of silence is a few
 * kilobytes in some formats. What no decoder here knows may go to a provider that reports what it was.
 */
function check({ audio, model, value }: MeteredBody): void {
  const isCharged = model.price.audioSecond > 0n || isPricedByToken(model);
  const isReported = !TEXT_FORMATS.has(value.response_format);
  if (!isCharged || audio?.seconds !== undefined || (audio?.how !== 'unmeasurable' && isReported)) return;
  throw invalidField(
    'file',
    `The length of this file cannot be measured, and this model is charged by it. Send ${MEASURED_FORMATS}.`,
  );
}

/** `/v1/audio/transcriptions` and `/v1/audio/translations`. */
export const transcription: Meter = {
  check,
  hold(body) {
    // Providers report whole seconds, rounded up.
    const audioSeconds = Math.ceil(boundSeconds(body));
    return holdFor(body.model.price, {
      audioSeconds,
      input: body.textBytes + Math.ceil(audioSeconds * TOKENS_PER_SECOND),
      output: body.model.maxOutputTokens,
    });
  },
  usage: (answer, body) =>
    saysError(answer)
      ? undefined
      : transcriptionUsage(TEXT_FORMATS.has(body.value.response_format) ? undefined : answer, body),
  failed: saysError,
  written: (answer) => String((answer as { text?: unknown } | null | undefined)?.text ?? ''),
  stream: (_injectedUsage, body) => new TranscriptionStream(body),
  async estimate(body, written, count) {
    const audioSeconds = boundSeconds(body);
    if (!isPricedByToken(body.model)) return { audioSeconds };
    const { prompt } = body.value;
    const asked = typeof prompt === 'string' ? await count(prompt) : 0;
    return {
      audioSeconds,
      input: asked + Math.ceil(audioSeconds * TOKENS_PER_SECOND),
      output: await count(written),
    };
  },
};
