import type { Usage } from '../domain/ledger-entry.ts';
import type { Shape } from './json-sieve.ts';
import { isObject } from './json-value.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { OutputTextCollector } from './output-text.ts';
import { eventData, isOutermost, saysDone, saysFailed } from './sse/event.ts';
import { chatToUsage, mergeReported, reportedBy } from './usage.ts';

/** Of a chunk; a few providers send whole messages in place of what is new. */
const CHAT_DELTAS = ['delta', 'message'] as const;

const NULL_USAGE = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/;
const NULL_AHEAD = /^"usage"\s*:\s*null/;
const NULL_WITHIN = 20;
const FINISHED = /"finish_reason"\s*:\s*"/;
const INDEX = /"index"\s*:\s*(\d+)/;

export interface ChatStreamOptions {
  /** The gateway asked for the usage chunk, so the client must not see a trace of it. */
  readonly injectedUsage: boolean;
  /** Several answers come interleaved, told apart by their `index`. */
  readonly isInterleaved: boolean;
  /** The answer is spoken too. */
  readonly hasSound?: boolean;
  /** The members of a choice that have what is written; a chunk has one of them, and the first that it has counts. */
  readonly deltas?: readonly string[];
}

/**
 * Reads a stream of chat or text completion chunks as it passes, event by event. Events come as Latin-1 text (a byte a
 * character), so that looking at them costs little and positions are those of the bytes; only what is needed is decoded.
 */
export class ChatStream implements StreamMeter {
  readonly #injectedUsage: boolean;
  readonly #isInterleaved: boolean;
  readonly #hasSound: boolean;
  readonly #resourceIds = new Set<string>();
  readonly #deltas: readonly string[];
  readonly #outputText = new OutputTextCollector();
  #reported: Usage | undefined;
  /** How many pieces had been written when usage was last reported. */
  #reportedAt = 0;
  #isDone = false;
  #failed = false;
  /** The last chunk that wrote, or says whether the model finished. */
  #lastChunk = '';

  constructor({ injectedUsage, isInterleaved, hasSound = false, deltas = CHAT_DELTAS }: ChatStreamOptions) {
    this.#injectedUsage = injectedUsage;
    this.#isInterleaved = isInterleaved;
    this.#hasSound = hasSound;
    this.#deltas = deltas.map((name) => JSON.stringify(name));
  }

  get kept(): Shape {
    const outputText = { delta: this.#outputText, text: this.#outputText };
    const choice = { index: 'all', finish_reason: 'all', ...outputText } as const;
    return { type: 'all', error: 'all', choices: [choice], usage: 'all' };
  }

  /** As last reported, unless the model has written more since: some providers report as they go, or only at first. */
  get usage(): Usage | undefined {
    return this.#isDone || this.#reportedAt === this.#outputText.pieces ? this.#reported : undefined;
  }

  mergeReported(estimate: Usage): Usage {
    return mergeReported(this.#outputText.scaled(estimate), this.#reported);
  }

  get resourceIds(): readonly string[] {
    return [...this.#resourceIds];
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Some providers end without `[DONE]`; usage, or a reason why the model finished, says that all has come. */
  get isWhole(): boolean {
    return this.#isDone || this.usage !== undefined || this.isClosing;
  }

  get isClosing(): boolean {
    return FINISHED.test(this.#lastChunk);
  }

  get pieces(): number {
    return this.#outputText.pieces;
  }

  /** What the model wrote until now: text, what tools are called and called with, refusals, reasoning. */
  outputText(): string {
    return this.#outputText.toString();
  }

  event(event: string): Verdict {
    if (saysDone(event)) {
      this.#isDone = true;
      return 'end';
    }
    // Held back like the end: clients leave as soon as they have read it.
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    const { pieces } = this.#outputText;
    const lane = this.#isInterleaved ? Number(INDEX.exec(event)?.[1] ?? 0) : 0;
    for (const delta of this.#deltas) if (this.#outputText.collect(event, delta, lane)) break;
    if (this.#outputText.pieces > pieces || event.includes('"finish_reason"')) this.#lastChunk = event;
    if (this.#hasSound && event.includes('"audio"'))
      for (const id of chatResourceIds(eventData(event))) this.#resourceIds.add(id);
    const at = event.indexOf('"usage"');
    return at < 0 ? 'pass' : this.#usageEvent(event, at);
  }

  #usageEvent(event: string, at: number): Verdict {
    // So in every chunk but the last, where usage was asked for. To parse each took a twentieth of a stream's CPU.
    const isNull = NULL_AHEAD.test(event.slice(at, at + NULL_WITHIN)) && event.indexOf('"usage"', at + 1) < 0;
    if (isNull && !this.#injectedUsage) return 'pass';
    if (isNull && isOutermost(event, at)) return { replacement: event.replace(NULL_USAGE, '') };
    const chunk = eventData(event);
    const usage = chatToUsage(reportedBy(chunk));
    if (usage) {
      this.#reported = usage;
      this.#reportedAt = this.#outputText.pieces;
    }
    if (!this.#injectedUsage || !chunk) return 'pass';
    if (chunk.usage && Array.isArray(chunk.choices) && chunk.choices.length === 0) return 'drop';
    // Asked for usage, providers put "usage": null into every other chunk as well.
    if (chunk.usage === null) return { replacement: event.replace(NULL_USAGE, '') };
    return 'pass';
  }
}

/** Ids of sound that the provider stores of a chat answer, or of the chunk of one that names it. */
export function chatResourceIds(answer: unknown): string[] {
  const choices = isObject(answer) ? answer.choices : undefined;
  if (!Array.isArray(choices)) return [];
  const ids: string[] = [];
  for (const choice of choices) {
    const said: unknown = choice?.message ?? choice?.delta;
    const audio = isObject(said) ? said.audio : undefined;
    if (isObject(audio) && typeof audio.id === 'string' && audio.id !== '') ids.push(audio.id);
  }
  return ids;
}
