import { invalidField } from '../domain/errors.ts';
import { isPricedByToken } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { AUDIO_TOKENS_PER_SECOND } from './audio/audio-length.ts';
import { MEASURED_FORMATS } from './audio/measure-audio.ts';
import type { Shape } from './json/sieve.ts';
import { isObject } from './json/value.ts';
import { EVERYWHERE, membersOf } from './members.ts';
import { type EventAction, type Meter, type MeteredBody, saysError, textTokens } from './meter.ts';
import { above0, responsesToUsage } from './openai-usage.ts';
import { TextStream } from './output-text.ts';
import { plainPlan } from './plain-plan.ts';
import { eventData, saysDone, saysFailed } from './sse/event.ts';
import { tokensIn } from './text-tokens.ts';
import { reportedSeconds } from './usage.ts';

/** Transcriptions and translations of audio. */
export const TRANSCRIPTION = membersOf({
  ...EVERYWHERE,
  read: 'model stream response_format',
  files: 'file.*',
  held: 'prompt',
  free: `chunking_strategy.* include keywords known_speaker_names known_speaker_references language languages temperature
    timestamp_granularities`,
});

/** Lowest bit rate, in bytes per second (6 kbit/s), to bound audio in an unknown format. MP3 has at least 8 kbit/s. */
const LOWEST_BYTES_PER_SECOND = 750;
/** Expected tokens per second of audio: those of gpt-4o-transcribe. */
const LIKELY_TOKENS_PER_SECOND = 10;
/** Formats that answer in plain text without a report. The text is not parsed, since it could look like a report. */
const TEXT_FORMATS: ReadonlySet<unknown> = new Set(['text', 'srt', 'vtt']);

function boundSeconds({ audio }: MeteredBody): number {
  return audio?.seconds ?? Math.ceil((audio?.bytes ?? 0) / LOWEST_BYTES_PER_SECOND);
}

/**
 * Refuses audio of unmeasurable length if the length is charged: some formats store an hour of silence in a few
 * kilobytes. Audio in an unknown format may go to a provider that reports the length.
 */
function check({ audio, model, value }: MeteredBody): void {
  const isCharged = model.price.units.audioSecond > 0n || isPricedByToken(model.price);
  const isReported = !TEXT_FORMATS.has(value.response_format);
  if (!isCharged || audio?.seconds !== undefined || (audio?.how !== 'unmeasurable' && isReported)) return;
  throw invalidField(
    'file',
    `This model is charged by audio length, which can't be measured for this file. Send ${MEASURED_FORMATS}.`,
  );
}

/** `/v1/audio/transcriptions` and `/v1/audio/translations`. */
export const transcription: Meter = {
  plan(body) {
    check(body);
    const { textBytes, model } = body;
    // Providers report whole seconds, rounded up.
    const audioSeconds = Math.ceil(boundSeconds(body));
    const heard = Math.ceil(audioSeconds * AUDIO_TOKENS_PER_SECOND);
    return plainPlan(body, {
      usage: { audioSeconds, input: textBytes + heard, output: model.maxOutputTokens },
      reach: { input: ['inputAudio', 'cachedInputAudio'] },
      expected: {
        textBytes,
        more: heard,
        maxTokens: model.maxOutputTokens,
        answers: 1,
        besides: { audioSeconds },
      },
    });
  },
  usage: (answer, body) =>
    saysError(answer)
      ? undefined
      : transcriptionUsage(TEXT_FORMATS.has(body.value.response_format) ? undefined : answer, body),
  failed: saysError,
  mergeReported: withSound,
  answersText: ({ value }) => TEXT_FORMATS.has(value.response_format),
  outputTokens: (answer) => tokensIn(String((answer as { text?: unknown } | null | undefined)?.text ?? '')),
  stream: (_injectedUsage, body) => new TranscriptionStream(body),
  inputTokens(body) {
    const { prompt } = body.value;
    return { text: typeof prompt === 'string' ? textTokens(body, prompt) : 0, media: 0 };
  },
  estimate({ input, output }, body) {
    const audioSeconds = boundSeconds(body);
    if (!isPricedByToken(body.model.price)) return { audioSeconds };
    return { audioSeconds, input: input + Math.ceil(audioSeconds * LIKELY_TOKENS_PER_SECOND), output };
  },
};

/** Reported tokens. Input without details is audio if audio has a separate price. */
function transcriptTokens(reported: unknown, { model: { price } }: MeteredBody): Usage | undefined {
  const tokens = responsesToUsage(reported, price);
  const isDivided =
    isObject(reported) && isObject(reported.input_token_details ?? reported.input_tokens_details);
  if (!tokens || isDivided || !price.named.has('inputAudio')) return tokens;
  const { input = 0, ...others } = tokens;
  return { input: 0, ...others, ...above0({ inputAudio: input }) };
}

/** Moves the audio tokens of an estimate to their unit. */
function withSound(estimate: Usage): Usage {
  const { input = 0, audioSeconds = 0 } = estimate;
  const inputAudio = Math.min(input, Math.ceil(audioSeconds * LIKELY_TOKENS_PER_SECOND));
  return inputAudio > 0 ? { ...estimate, input: input - inputAudio, inputAudio } : estimate;
}

/**
 * Usage from an answer or the last event of a stream. Seconds: `usage` of type `duration`, or `duration` of a verbose
 * answer, or the measured length of the audio, which counts as exact. Tokens: `usage` of type `tokens`. Undefined if
 * the model prices seconds or tokens that are unknown.
 */
function transcriptionUsage(answer: unknown, body: MeteredBody): Usage | undefined {
  const { usage, duration } = (answer ?? {}) as { usage?: { seconds?: unknown } | null; duration?: unknown };
  const measured = body.audio?.how === 'measured' ? body.audio.seconds : undefined;
  const audioSeconds = reportedSeconds(usage?.seconds) ?? reportedSeconds(duration) ?? measured;
  const { model } = body;
  const tokens = transcriptTokens(usage, body);
  if (audioSeconds === undefined && (model.price.units.audioSecond > 0n || !tokens)) return undefined;
  if (!tokens && isPricedByToken(model.price)) return undefined;
  return { ...(audioSeconds === undefined ? {} : { audioSeconds }), ...tokens };
}

/** Events `transcript.text.delta`, then `transcript.text.done` with `usage`. */
class TranscriptionStream extends TextStream {
  readonly #body: MeteredBody;
  #usage: Usage | undefined;

  constructor(body: MeteredBody) {
    super();
    this.#body = body;
    this.#usage = transcriptionUsage(undefined, body);
  }

  /**
   * Reported usage, or else the measured length: the provider bills all the audio, unless it failed before any output.
   */
  get usage(): Usage | undefined {
    return this.failed && this.text.pieces === 0 ? undefined : this.#usage;
  }

  /** Always false: read only before the final event. */
  readonly isWhole = false;

  get kept(): Shape {
    return { type: 'all', error: 'all', delta: this.text, usage: 'all', duration: 'all' };
  }

  mergeReported(estimate: Usage): Usage {
    return withSound(estimate);
  }

  event(event: string): EventAction {
    if (saysDone(event)) return 'end';
    if (saysFailed(event)) {
      this.failed = true;
      return 'end';
    }
    const data = event.includes('transcript.text.') ? eventData(event) : undefined;
    if (data?.type === 'transcript.text.delta') this.text.collect(event, '"delta"');
    if (data?.type !== 'transcript.text.done') return 'pass';
    this.#usage = transcriptionUsage(data, this.#body);
    return 'end';
  }
}
