import { holdFor } from '../../domain/price.ts';
import type { CallBody } from '../call-body.ts';
import type { Meter } from './meter.ts';
import { isPricedByToken } from './priced-by-token.ts';
import { saysError } from './says-error.ts';
import { TranscriptionStream } from './transcription-stream.ts';
import { transcriptionUsage } from './transcription-usage.ts';

/**
 * Audio whose length cannot be measured is taken to be as long as its bytes last at 6 kbit/s, the lowest bitrate of Opus,
 * which is the lowest of the formats that providers take (MP3 has 8 kbit/s at least).
 */
const LOWEST_BYTES_PER_SECOND = 750;
/** Most tokens that models make of a second of audio: Whisper's encoder makes 50, gpt-4o-transcribe 10. */
const TOKENS_PER_SECOND = 50;
/** Answers that are text and report nothing; what was said in them could look like a report. */
const TEXT_FORMATS: ReadonlySet<unknown> = new Set(['text', 'srt', 'vtt']);

function boundSeconds({ audio }: CallBody): number {
  return audio?.seconds ?? Math.ceil((audio?.bytes ?? 0) / LOWEST_BYTES_PER_SECOND);
}

/** `/v1/audio/transcriptions` and `/v1/audio/translations`. */
export const transcription: Meter = {
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
