import { invalidField } from '../domain/errors.ts';
import { isPricedByToken } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { AUDIO_TOKENS_PER_SECOND } from './audio/audio-length.ts';
import { MEASURED_FORMATS } from './audio/measure-audio.ts';
import { above0 } from './input-split.ts';
import type { Shape } from './json/sieve.ts';
import { asText, isObject } from './json/value.ts';
import { EVERYWHERE, membersOf } from './members.ts';
import { type EventAction, type Meter, type MeteredBody, textTokens } from './meter.ts';
import { TextStream } from './output-text.ts';
import { plainPlan } from './plain-plan.ts';
import { eventData, eventFailed, mayFail, saysDone } from './sse/event.ts';
import { tokensIn } from './text-tokens.ts';
import {
  type Counts,
  mergeCounts,
  type ReportedUsage,
  reportIn,
  secondsIn,
  usageOf,
  wholeUsage,
  withEarlyReport,
  withReported,
} from './usage-report.ts';

/** Transcriptions and translations of audio. */
export const TRANSCRIPTION = membersOf({
  ...EVERYWHERE,
  read: 'model stream response_format',
  files: 'file.*',
  held: 'prompt',
  free: `chunking_strategy.* include keywords known_speaker_names known_speaker_references language languages temperature
    timestamp_granularities`,
  texts: {
    file: '`audioSecond`, or `inputAudio`; the only file, whose length the gateway measures',
    prompt: 'a token for each byte, if tokens are priced',
  },
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
  usage(answer, body) {
    const counts = countsIn(answer, body);
    return transcriptionUsage(secondsOf(counts, answer, body), tokensOf(counts, body, hasText(answer)), body);
  },
  mergeReported: (estimate, answer, body) =>
    withReported(withSound(estimate), tokensOf(countsIn(answer, body), body, hasText(answer))),
  answersText: ({ value }) => TEXT_FORMATS.has(value.response_format),
  outputTokens: (answer) => (isObject(answer) ? tokensIn(asText(answer.text)) : 0),
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

function hasText(answer: unknown): boolean {
  return isObject(answer) && asText(answer.text) !== '';
}

/** The report of an answer. A text is not parsed, since it could look like one. */
function countsIn(answer: unknown, { value }: MeteredBody): Counts {
  return (TEXT_FORMATS.has(value.response_format) ? undefined : reportIn(answer)?.counts) ?? {};
}

/** Reported tokens. Input without details is audio if audio has a separate price. */
function tokensOf(counts: Counts, { model: { price } }: MeteredBody, wrote: boolean): ReportedUsage {
  const { input, output } = usageOf(counts, { price, wrote: () => wrote });
  if (!input || counts.audio !== undefined || !price.named.has('inputAudio'))
    return { ...(input ? { input } : {}), ...(output ? { output } : {}) };
  const { input: heard = 0, ...others } = input;
  return {
    input: { input: 0, ...others, ...above0({ inputAudio: heard }) },
    ...(output ? { output } : {}),
  };
}

/** Moves the audio tokens of an estimate to their unit. */
function withSound(estimate: Usage): Usage {
  const { input = 0, audioSeconds = 0 } = estimate;
  const inputAudio = Math.min(input, Math.ceil(audioSeconds * LIKELY_TOKENS_PER_SECOND));
  return inputAudio > 0 ? { ...estimate, input: input - inputAudio, inputAudio } : estimate;
}

/** Seconds of a report or of a verbose answer, or the measured length, which counts as exact. 0 is no length. */
function secondsOf(counts: Counts, answer: unknown, { audio }: MeteredBody): number | undefined {
  const measured = audio?.how === 'measured' ? audio.seconds : undefined;
  const duration = isObject(answer) ? secondsIn(answer.duration) : undefined;
  return counts.seconds || duration || measured;
}

/** Usage by seconds and tokens. Undefined if the model prices seconds or tokens that are unknown. */
function transcriptionUsage(
  seconds: number | undefined,
  reported: ReportedUsage,
  { model: { price } }: MeteredBody,
): Usage | undefined {
  const tokens = wholeUsage(reported);
  if (seconds === undefined && (price.units.audioSecond > 0n || !tokens)) return undefined;
  if (!tokens && isPricedByToken(price)) return undefined;
  return { ...(seconds === undefined ? {} : { audioSeconds: seconds }), ...tokens };
}

/** Events `transcript.text.delta`, then `transcript.text.done` with `usage`. */
class TranscriptionStream extends TextStream {
  readonly #body: MeteredBody;
  #counts: Counts = {};
  /** The last event. */
  #done: Record<string, unknown> | undefined;

  constructor(body: MeteredBody) {
    super();
    this.#body = body;
  }

  /** Reported usage, or else the measured length: the provider bills all the audio, once there is any output. */
  get usage(): Usage | undefined {
    if (!this.hasAnswer) return undefined;
    const seconds = secondsOf(this.#counts, this.#done, this.#body);
    return transcriptionUsage(seconds, this.#reported, this.#body);
  }

  get #reported(): ReportedUsage {
    return tokensOf(this.#counts, this.#body, this.text.pieces > 0);
  }

  get hasAnswer(): boolean {
    return this.text.pieces > 0 || this.#done !== undefined;
  }

  /** Always false: read only before the final event. */
  readonly isWhole = false;

  get kept(): Shape {
    return { type: 'all', error: 'all', delta: this.text, usage: 'all', duration: 'all' };
  }

  mergeReported(estimate: Usage): Usage {
    return (this.#done ? withReported : withEarlyReport)(withSound(estimate), this.#reported);
  }

  event(event: string): EventAction {
    if (saysDone(event)) return 'end';
    const isDelta = event.includes('transcript.text.delta');
    if (isDelta) this.text.collect(event, '"delta"');
    if (isDelta ? mayFail(event) && eventFailed(event) : eventFailed(event)) {
      this.failed = true;
      return 'end';
    }
    const data = isDelta && !event.includes('"usage"') ? undefined : eventData(event);
    const report = reportIn(data);
    if (report) this.#counts = mergeCounts(this.#counts, report.counts);
    if (data?.type !== 'transcript.text.done') return 'pass';
    this.#done = data;
    return 'end';
  }
}
