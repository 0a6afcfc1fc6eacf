import type { Price } from '../domain/catalog.ts';
import { invalidField } from '../domain/errors.ts';
import { isPricedByToken } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { type PassingSound, passingSound } from './audio/passing-length.ts';
import { surrogatePairs } from './json/elided-strings.ts';
import type { Shape } from './json/sieve.ts';
import { EVERYWHERE, membersOf } from './members.ts';
import {
  EVENT_SHAPE,
  type EventAction,
  type HeardAnswer,
  type Meter,
  type RequestFacts,
  type StreamMeter,
  textTokens,
} from './meter.ts';
import { plainPlan } from './plain-plan.ts';
import { eventData, eventFailed, mayFail, saysDone } from './sse/event.ts';
import {
  type Reading,
  ReportedStream,
  type ReportedUsage,
  reportedUsage,
  wholeUsage,
  withOutputAs,
  withReported,
} from './usage-report.ts';

export const SPEECH = membersOf({
  ...EVERYWHERE,
  read: 'model stream_format',
  priced: 'input instructions speed',
  free: 'voice.* response_format',
  texts: { 'input instructions speed': '`character` of `input`, or `input` and `outputAudio`' },
});

/**
 * Unicode code points of `input` (specification section 5), lone surrogates included. Throws 400 `invalid_field` if
 * empty.
 */
function charactersOf(body: RequestFacts): number {
  const { input } = body.scalars;
  if (typeof input !== 'string') throw invalidField('input', 'input must be a string: the text to speak.');
  const long = body.elidedStrings?.get(input);
  if (long) return long.characters;
  return input.length - surrogatePairs(input);
}

/** Usage without a report: the characters; undefined if tokens have a price. */
function knownUsage(body: RequestFacts): Usage | undefined {
  return isPricedByToken(body.model.price) ? undefined : { characters: charactersOf(body) };
}

/** Tokens of a minute of OpenAI's speech. */
const TOKENS_PER_MINUTE = 1_250;
/** Expected tokens per character: a minute of speech has about 900 characters in most alphabets. */
const LIKELY_TOKENS_PER_CHARACTER = 1.4;
/** Most tokens per character: half a second, for digits and for scripts with a word per character. */
const MAX_TOKENS_PER_CHARACTER = 10;

/** Most audio tokens: the hold, and the charge if none are reported. */
function mostTokens(body: RequestFacts): number {
  return Math.max(body.model.maxOutputTokens, charactersOf(body) * MAX_TOKENS_PER_CHARACTER);
}

function expectedTokens(body: RequestFacts): number {
  return Math.ceil(charactersOf(body) * LIKELY_TOKENS_PER_CHARACTER);
}

/** Measures an answer without a report. A truncated answer counts at least the length expected from its text. */
class Heard implements HeardAnswer {
  readonly #body: RequestFacts;
  readonly #sound: PassingSound;

  constructor(body: RequestFacts) {
    this.#body = body;
    this.#sound = passingSound(body.scalars.response_format);
  }

  push(chunk: Buffer): void {
    this.#sound.push(chunk);
  }

  correct(estimate: Usage, isWhole: boolean): Usage {
    const { seconds } = this.#sound;
    const most = mostTokens(this.#body);
    const least = isWhole ? 0 : expectedTokens(this.#body);
    const heard = seconds === undefined ? most : Math.ceil((seconds * TOKENS_PER_MINUTE) / 60);
    return withOutputAs('outputAudio', { ...estimate, output: Math.min(most, Math.max(least, heard)) });
  }
}

/** Price of a speech model, whose output is all audio. */
function soundPrice(price: Price): Price {
  return { ...price, units: { ...price.units, output: price.units.outputAudio } };
}

/**
 * `/v1/audio/speech`. Only event streams report usage. Other answers are charged by characters, or by the length of the
 * audio if that has a price. A charge by characters is the whole hold even if the client leaves or the upstream breaks
 * off after the first byte: the provider has all the text and bills it.
 */
export const speech: Meter = {
  plan(body) {
    const { textBytes, model } = body;
    const characters = charactersOf(body);
    return plainPlan(body, {
      usage: { characters, input: textBytes, output: mostTokens(body) },
      reach: { output: ['outputAudio'] },
      expected: { textBytes, maxTokens: expectedTokens(body), answers: 1, besides: { characters } },
      price: isPricedByToken(model.price) ? soundPrice(model.price) : model.price,
    });
  },
  usage: (answer, body) =>
    answer === undefined ? knownUsage(body) : wholeUsage(reportedUsage(answer, readingOf(body))),
  // JSON is no sound.
  failed: () => true,
  mergeReported: (estimate, answer, body) =>
    withReported(withOutputAs('outputAudio', estimate), reportedUsage(answer, readingOf(body))),
  outputTokens: () => 0,
  heard: (body) => (isPricedByToken(body.model.price) ? new Heard(body) : undefined),
  stream: (_injectedUsage, body) => new SpeechStream(body),
  inputTokens(body) {
    const { input, instructions } = body.value;
    const spoken = typeof instructions === 'string' ? `${instructions}\n${input}` : String(input);
    return { text: textTokens(body, spoken), media: 0 };
  },
  /** Counts the tokens of the text, and the maximum for the audio. */
  estimate: ({ input }, body) => ({ characters: charactersOf(body), input, output: mostTokens(body) }),
};

function readingOf({ model: { price } }: RequestFacts, wrote = () => false): Reading {
  return { price, unit: 'outputAudio', wrote };
}

/** Events `speech.audio.delta`, then `speech.audio.done` with `usage` in tokens. */
class SpeechStream extends ReportedStream implements StreamMeter {
  readonly #body: RequestFacts;
  pieces = 0;
  readonly kept: Shape = { ...EVENT_SHAPE, message: 'all' };
  /** Always false: read only before the final event. */
  readonly isWhole = false;
  readonly outputTokens = 0;

  constructor(body: RequestFacts) {
    super();
    this.#body = body;
  }

  mergeReported(estimate: Usage): Usage {
    return withReported(withOutputAs('outputAudio', estimate), this.#reported);
  }

  /** Usage so far; undefined before any audio has arrived. */
  get usage(): Usage | undefined {
    if (!this.hasAnswer) return undefined;
    const tokens = wholeUsage(this.#reported);
    return tokens ? { characters: charactersOf(this.#body), ...tokens } : knownUsage(this.#body);
  }

  get #reported(): ReportedUsage {
    return this.usageBy(readingOf(this.#body, () => this.pieces > 0));
  }

  get hasAnswer(): boolean {
    return this.pieces > 0 || this.counts !== undefined;
  }

  event(event: string): EventAction {
    if (saysDone(event)) return 'end';
    const isSound = event.includes('speech.audio.delta');
    if (isSound ? mayFail(event) && eventFailed(event) : eventFailed(event)) {
      this.failed = true;
      return 'end';
    }
    if (isSound) this.pieces++;
    const data = isSound && !event.includes('"usage"') ? undefined : eventData(event);
    this.take(data);
    return data?.type === 'speech.audio.done' ? 'end' : 'pass';
  }
}
