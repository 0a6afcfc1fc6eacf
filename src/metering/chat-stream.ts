import type { Terms } from '../domain/bill.ts';
import type { Price } from '../domain/catalog.ts';
import { inputTokens, type Usage } from '../domain/units.ts';
import type { Shape } from './json/sieve.ts';
import { isObject } from './json/value.ts';
import type { EventAction } from './meter.ts';
import { chatToUsage } from './openai-usage.ts';
import { TextStream } from './output-text.ts';
import { encryptedBytes, tokensOfEncrypted } from './reasoning.ts';
import { eventData, isOutermost, saysDone, saysFailed } from './sse/event.ts';
import { openaiTiers } from './terms.ts';
import { hasOutput, mergeReported, reportedBy, withSearches } from './usage.ts';

/** Members of a choice with new content; a few providers send a whole `message` instead of a `delta`. */
const CHAT_DELTAS = ['delta', 'message'] as const;

const NULL_USAGE = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/;
const NULL_AHEAD = /^"usage"\s*:\s*null/;
const NULL_WITHIN = 20;
const FINISHED = /"finish_reason"\s*:\s*"/;

interface ChatStreamOptions {
  /** The gateway, not the client, asked for the usage chunk, so the client must not see it. */
  readonly injectedUsage: boolean;
  readonly price: Price;
  /** Charged web searches of the call. Default: 0. */
  readonly searches?: number;
  /** Whether the request asks for a longer cache lifetime than the shortest. Default: false. */
  readonly asksLongCache?: () => boolean;
  /** Several answers arrive interleaved, each with an `index`. */
  readonly isInterleaved: boolean;
  /** The answer may contain audio. */
  readonly hasSound?: boolean;
  /** Members of a choice that may hold output text; the first one present in a chunk counts. */
  readonly deltas?: readonly string[];
}

/**
 * Measures a stream of chat or text completion chunks. Events are Latin-1 text (one character a byte), so inspection is
 * cheap and positions are byte positions; only the needed parts are decoded.
 */
export class ChatStream extends TextStream {
  readonly #options: ChatStreamOptions;
  readonly #resourceIds = new Set<string>();
  readonly #deltas: readonly string[];
  #reported: Usage | undefined;
  #serviceTiers: readonly string[] | undefined;
  /** Pieces of output text at the last report. */
  #reportedAt = 0;
  #isDone = false;
  #encryptedBytes = 0;
  /** The first chunk, or "" if it names no service tier. */
  #firstChunk: string | undefined;
  /** The last chunk with output text or a `finish_reason`. */
  #lastChunk = '';

  constructor(options: ChatStreamOptions) {
    super();
    this.#options = options;
    this.#deltas = (options.deltas ?? CHAT_DELTAS).map((name) => JSON.stringify(name));
  }

  get kept(): Shape {
    const outputText = { delta: this.text, text: this.text };
    const choice = { index: 'all', finish_reason: 'all', ...outputText } as const;
    return { type: 'all', error: 'all', choices: [choice], usage: 'all', service_tier: 'all' };
  }

  /**
   * The last report, unless more output has arrived since: some providers report progressively, or only at the start.
   * After the end any report counts, except one without output that preceded all text.
   */
  get usage(): Usage | undefined {
    if (this.#reportedAt === this.text.pieces) return this.#reported;
    return this.#isDone && (this.#reportedAt > 0 || hasOutput(this.#reported)) ? this.#reported : undefined;
  }

  /**
   * Service tiers of the usage chunk, which is parsed anyway, or of the last or first one. OpenAI's chunks all have it.
   */
  get terms(): Terms {
    const tiers =
      this.#serviceTiers ?? this.#tiersIn(this.#lastChunk) ?? this.#tiersIn(this.#firstChunk ?? '');
    return { serviceTiers: tiers };
  }

  mergeReported(estimate: Usage): Usage {
    const usage = mergeReported(estimate, this.#reported);
    return withSearches(usage, this.#options.searches);
  }

  get resourceIds(): readonly string[] {
    return [...this.#resourceIds];
  }

  /** The answer is complete. Without `[DONE]`, which some providers omit, usage or a `finish_reason` shows it. */
  get isWhole(): boolean {
    return this.#isDone || this.usage !== undefined || this.#isFinished;
  }

  /** If answers are interleaved, the final chunk of one says nothing about the others. */
  get isReported(): boolean {
    return this.usage !== undefined && this.#isFinished && !this.#options.isInterleaved;
  }

  get #isFinished(): boolean {
    return FINISHED.test(this.#lastChunk);
  }

  get hiddenTokens(): number {
    return tokensOfEncrypted(this.#encryptedBytes);
  }

  event(event: string): EventAction {
    if (saysDone(event)) {
      this.#isDone = true;
      return 'end';
    }
    // Held back like the end, since clients disconnect once they have read an error.
    if (saysFailed(event)) {
      this.failed = true;
      if (event.includes('"usage"')) this.#take(eventData(event));
      return 'end';
    }
    this.#firstChunk ??= event.includes('"service_tier"') ? copied(event) : '';
    const { pieces } = this.text;
    for (const delta of this.#deltas) if (this.text.collect(event, delta)) break;
    if (this.text.pieces > pieces || event.includes('"finish_reason"')) this.#lastChunk = event;
    if (event.includes('encrypted')) this.#encryptedBytes += encryptedBytes(eventData(event));
    if (this.#options.hasSound && event.includes('"audio"'))
      for (const id of chatResourceIds(eventData(event))) this.#resourceIds.add(id);
    const at = event.indexOf('"usage"');
    return at < 0 ? 'pass' : this.#usageEvent(event, at);
  }

  #usageEvent(event: string, at: number): EventAction {
    // If usage was requested, every chunk but the last has `"usage": null`. Parsing each took 5 % of a stream's CPU.
    const isNull = NULL_AHEAD.test(event.slice(at, at + NULL_WITHIN)) && event.indexOf('"usage"', at + 1) < 0;
    if (isNull && !this.#options.injectedUsage) return 'pass';
    if (isNull && isOutermost(event, at)) return { replacement: event.replace(NULL_USAGE, '') };
    const chunk = eventData(event);
    this.#take(chunk);
    if (!this.#options.injectedUsage || !chunk) return 'pass';
    if (chunk.usage && Array.isArray(chunk.choices) && chunk.choices.length === 0) return 'drop';
    // If asked for usage, providers also put "usage": null into every other chunk.
    if (chunk.usage === null) return { replacement: event.replace(NULL_USAGE, '') };
    return 'pass';
  }

  /** Takes the usage of a chunk; some providers report it beside an error. */
  #take(chunk: Record<string, unknown> | undefined): void {
    const usage = chatToUsage(reportedBy(chunk), this.#options.price, this.#options.asksLongCache);
    // A call that failed before the model read or wrote anything is free.
    if (!usage || (this.failed && !inputTokens(usage) && !usage.output)) return;
    this.#reported = withSearches(usage, this.#options.searches);
    this.#serviceTiers = openaiTiers(chunk, this.#options.price) ?? this.#serviceTiers;
    this.#reportedAt = this.text.pieces;
  }

  #tiersIn(chunk: string): readonly string[] | undefined {
    return chunk.includes('"service_tier"') ? openaiTiers(eventData(chunk), this.#options.price) : undefined;
  }
}

/** A copy of Latin-1 text: a slice would keep its source in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Ids of audio that the provider stores, in a chat answer or chunk. */
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
