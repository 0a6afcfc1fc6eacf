import { invalidField } from '../domain/errors.ts';
import { isPricedByToken } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';

import { AUDIO_TOKENS_PER_SECOND, MEASURED_FORMATS } from './audio/measure-audio.ts';
import { above0 } from './input-split.ts';
import type { Shape } from './json/sieve.ts';
import { asText, isObject } from './json/value.ts';
import { EVERYWHERE, membersOf } from './members.ts';
import {
  EVENT_SHAPE,
  type EventAction,
  type Meter,
  type ParsedRequest,
  type RequestFacts,
  textTokens,
} from './meter.ts';
import { TextStream } from './output-text.ts';
import { plainPlan } from './plain-plan.ts';
import { eventData, eventFailed, saysDone } from './sse/event.ts';
import { tokensIn } from './text-tokens.ts';
import {
  type Counts,
  isAbove0,
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
const MIN_BYTES_PER_SECOND = 750;
/** Expected tokens per second of audio: those of gpt-4o-transcribe. */
const LIKELY_TOKENS_PER_SECOND = 10;
/** Formats that answer in plain text without a report. The text is not parsed, since it could look like a report. */
const TEXT_FORMATS: ReadonlySet<unknown> = new Set(['text', 'srt', 'vtt']);

function boundSeconds({ audio }: RequestFacts): number {
  return audio?.seconds ?? Math.ceil((audio?.bytes ?? 0) / MIN_BYTES_PER_SECOND);
}

/**
 * Refuses audio of unmeasurable length if the length is charged: some formats store an hour of silence in a few
 * kilobytes. Audio in an unknown format may go to a provider that reports the length.
 */
function check({ audio, model, value }: ParsedRequest): void {
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
  answersText: ({ scalars }) => TEXT_FORMATS.has(scalars.response_format),
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
function countsIn(answer: unknown, { scalars }: RequestFacts): Counts {
  return (TEXT_FORMATS.has(scalars.response_format) ? undefined : reportIn(answer)?.counts) ?? {};
}

/** Reported tokens. Input without details is audio if audio has a separate price. */
function tokensOf(counts: Counts, { model: { price } }: RequestFacts, wrote: boolean): ReportedUsage {
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
function secondsOf(counts: Counts, answer: unknown, { audio }: RequestFacts): number | undefined {
  const measured = audio?.how === 'measured' ? audio.seconds : undefined;
  const duration = isObject(answer) ? secondsIn(answer.duration) : undefined;
  return counts.seconds || duration || measured;
}

/** Usage by seconds and tokens. Undefined if the model prices seconds or tokens that are unknown. */
function transcriptionUsage(
  seconds: number | undefined,
  reported: ReportedUsage,
  { model: { price } }: RequestFacts,
): Usage | undefined {
  const tokens = wholeUsage(reported);
  if (seconds === undefined && (price.units.audioSecond > 0n || !tokens)) return undefined;
  if (!tokens && isPricedByToken(price)) return undefined;
  return { ...(seconds === undefined ? {} : { audioSeconds: seconds }), ...tokens };
}

/** The last event of OpenAI's and of Mistral's streams, which repeats the text. */
const LAST = /^transcript(?:\.text|ion)\.done$/;

/**
 * Measures a stream of a transcript: OpenAI's `transcript.text.delta` and `transcript.text.done` with `usage`, Mistral's
 * `transcription.text.delta` and `transcription.done`, vLLM's chunks of chat completions, and Speaches' bare texts.
 */
class TranscriptionStream extends TextStream {
  readonly #body: RequestFacts;
  /** The last event that says so. */
  #last: Record<string, unknown> | undefined;
  /** Nothing marks the end of a stream of bare texts. */
  #isBare = false;
  #isDone = false;

  constructor(body: RequestFacts) {
    super();
    this.#body = body;
  }

  /** Reported usage, or else the measured length: the provider bills all the audio, once there is any output. */
  get usage(): Usage | undefined {
    if (!this.hasAnswer && this.isMeasured) return undefined;
    return transcriptionUsage(secondsOf(this.#all, this.#last, this.#body), this.#reported, this.#body);
  }

  get #all(): Counts {
    return this.counts ?? {};
  }

  get #reported(): ReportedUsage {
    return tokensOf(this.#all, this.#body, this.text.pieces > 0);
  }

  get hasAnswer(): boolean {
    return this.text.pieces > 0 || (this.#last !== undefined && !this.failed);
  }

  get isMeasured(): boolean {
    return !isAbove0(this.#all);
  }

  get isWhole(): boolean {
    return this.#isDone || this.#last !== undefined || this.#isBare;
  }

  get kept(): Shape {
    return { ...EVENT_SHAPE, message: 'all', delta: this.text, duration: 'all' };
  }

  mergeReported(estimate: Usage): Usage {
    return (this.#last ? withReported : withEarlyReport)(withSound(estimate), this.#reported);
  }

  event(event: string): EventAction {
    if (saysDone(event)) {
      this.#isDone = true;
      return 'end';
    }
    const data = eventData(event);
    const type = data?.type;
    if (!event.includes('"delta"')) this.#takeText(data);
    else this.text.collect(event, '"delta"');
    this.failed = eventFailed(event);
    this.take(data);
    if (this.failed) return 'end';
    const [choice] = Array.isArray(data?.choices) ? data.choices : [];
    if (LAST.test(String(type)) || (isObject(choice) && choice.finish_reason)) this.#last = data;
    return LAST.test(String(type)) ? 'end' : 'pass';
  }

  /** Text that comes without a delta, and was not there before. */
  #takeText(data: Record<string, unknown> | undefined): void {
    if (typeof data?.text !== 'string') return;
    const isLast = LAST.test(String(data.type));
    if (!isLast) this.#isBare = data.type === undefined;
    if (!isLast || this.text.pieces === 0) this.text.collectValue(JSON.stringify(data.text));
  }
}
