import { invalidField } from '../domain/errors.ts';
import { isPricedByToken } from '../domain/price.ts';
import { surrogatePairs } from '../domain/surrogate-pairs.ts';
import type { Usage } from '../domain/usage.ts';
import type { Shape } from './json-sieve.ts';
import { type Meter, type StreamMeter, saysError, type Verdict } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { responsesToUsage, withOutputAs } from './openai-usage.ts';
import { plainAsk } from './request/plain-ask.ts';
import { eventData, saysDone, saysFailed } from './sse/event.ts';

/**
 * Unicode code points of `input` (specification section 5), half a surrogate pair included. Throws 400 `invalid_field`
 * for no text.
 */
function charactersOf(body: MeteredBody): number {
  const { input } = body.value;
  if (typeof input !== 'string') throw invalidField('input', 'input must be a string, the text to speak.');
  const long = body.elidedStrings?.get(input);
  if (long) return long.characters;
  return input.length - surrogatePairs(input);
}

/** Usage without a report: the characters, unless tokens have a price; undefined then. */
function knownUsage(body: MeteredBody): Usage | undefined {
  return isPricedByToken(body.model.price) ? undefined : { characters: charactersOf(body) };
}

/**
 * `/v1/audio/speech`. Only an answer that is a stream of events reports usage, so for others the hold is the charge. The
 * whole hold is charged too where the client leaves or the upstream breaks off after the first byte: the provider has all
 * of the text and bills it.
 */
export const speech: Meter = {
  ask(body) {
    const { textBytes, model } = body;
    const characters = charactersOf(body);
    return plainAsk(body, {
      usage: { characters, input: textBytes, output: model.maxOutputTokens },
      reach: { output: ['outputAudio'] },
      likely: { textBytes, maxTokens: model.maxOutputTokens, answers: 1, besides: { characters } },
    });
  },
  usage: (answer, body) => (saysError(answer) ? undefined : knownUsage(body)),
  failed: saysError,
  mergeReported: (estimate) => withOutputAs('outputAudio', estimate),
  outputText: () => '',
  stream: (_injectedUsage, body) => new SpeechStream(body),
  /** Tokens that nobody reported: those of the text are counted, and the sound has the most that there can be. */
  async estimate(body, _outputText, count) {
    const input = await count(String(body.value.input));
    return { characters: charactersOf(body), input, output: body.model.maxOutputTokens };
  },
};

/** Events `speech.audio.delta`, then `speech.audio.done` with `usage` in tokens. */
class SpeechStream implements StreamMeter {
  readonly #body: MeteredBody;
  #usage: Usage | undefined;
  pieces = 0;
  /** Always false, because no event marks the last sound. */
  readonly isClosing = false;
  readonly kept: Shape = { type: 'all', error: 'all', usage: 'all' };
  #failed = false;
  /** Always false, because `isWhole` is read before the event that ends the answer only. */
  readonly isWhole = false;

  constructor(body: MeteredBody) {
    this.#body = body;
    this.#usage = knownUsage(body);
  }

  mergeReported(estimate: Usage): Usage {
    return withOutputAs('outputAudio', estimate);
  }

  /** The usage so far; undefined where the provider failed before any sound came. */
  get usage(): Usage | undefined {
    return this.#failed && !this.hasOutput ? undefined : this.#usage;
  }

  get hasOutput(): boolean {
    return this.pieces > 0;
  }

  get failed(): boolean {
    return this.#failed;
  }

  outputText(): string {
    return '';
  }

  event(event: string): Verdict {
    if (saysDone(event)) return 'end';
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    if (!event.includes('speech.audio.done')) {
      if (event.includes('speech.audio.delta')) this.pieces++;
      return 'pass';
    }
    const data = eventData(event);
    if (data?.type !== 'speech.audio.done') return 'pass';
    const tokens = responsesToUsage(data.usage, this.#body.model.price, 'outputAudio');
    if (tokens) this.#usage = { characters: charactersOf(this.#body), ...tokens };
    return 'end';
  }
}
