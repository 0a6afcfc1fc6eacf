import type { Terms } from '../domain/bill.ts';
import type { Price } from '../domain/catalog.ts';
import { outputTokens, type Usage } from '../domain/units.ts';
import { hasAnswer, saysFailed } from './answer.ts';
import { skipSpace, valueEnd } from './json/lexer.ts';
import type { Shape } from './json/sieve.ts';
import { isObject } from './json/value.ts';
import type { EventAction } from './meter.ts';
import { TextStream } from './output-text.ts';
import { encryptedBytes, tokensOfEncrypted } from './reasoning.ts';
import { eventData, hasOneDataLine, isOutermost, mayFail, namesError, saysDone } from './sse/event.ts';
import { openaiTiers } from './terms.ts';
import { withSearches } from './usage.ts';
import {
  type Report,
  type ReportedUsage,
  usageOf,
  wholeUsage,
  withEarlyReport,
  withReported,
} from './usage-report.ts';

/** Members of a choice with new content; a few providers send a whole `message` instead of a `delta`. */
const CHAT_DELTAS = ['delta', 'message', 'text'] as const;

const NULL_AHEAD = /^"usage"\s*:\s*null/;
const NULL_WITHIN = 20;
/** Ollama, SGLang and Hunyuan send an empty reason with each chunk. */
const FINISHED = /"finish_reason"\s*:\s*"[^"]/;
/** Members of a chunk that say nothing by themselves. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
  'usage',
]);

interface ChatStreamOptions {
  /** The gateway, not the client, asked for the usage chunk, so the client must not see it. */
  readonly injectedUsage: boolean;
  readonly price: Price;
  /** Charged web searches of the call. Default: 0. */
  readonly searches?: number;
  /** Whether the request asks for a longer cache lifetime than the shortest. Default: false. */
  readonly asksLongCache?: (() => boolean) | undefined;
  /** Several answers arrive interleaved, each with an `index`. */
  readonly isInterleaved: boolean;
  /** The answer may contain audio. */
  readonly hasSound?: boolean;
  /** How reports become usage. Default: `usageOf`. */
  readonly toUsage?: typeof usageOf;
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
  #serviceTiers: readonly string[] | undefined;
  /** Pieces of output text at the last report. */
  #reportedAt = 0;
  #isDone = false;
  /** A chunk without output text has a part of an answer: a `finish_reason`, sound, a vector. */
  #hasAnswer = false;
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
    const choice = { index: 'all', finish_reason: 'all', usage: 'all', ...outputText } as const;
    const besides = { x_groq: { usage: 'all' }, 'amazon-bedrock-invocationMetrics': 'all' } as const;
    return { type: 'all', error: 'all', choices: [choice], usage: 'all', service_tier: 'all', ...besides };
  }

  /**
   * What was reported, unless more output has arrived since: some providers report progressively, or only at the start.
   * After the end any report counts, except one without output that preceded all text.
   */
  get usage(): Usage | undefined {
    const reported = this.#reported;
    const isLate = this.#isDone && (this.#reportedAt > 0 || outputTokens(reported.output ?? {}) > 0);
    if (this.#reportedAt !== this.text.pieces && !isLate) return undefined;
    const usage = wholeUsage(reported);
    return usage && withSearches(usage, this.#options.searches);
  }

  get #reported(): ReportedUsage {
    const { price, asksLongCache, toUsage = usageOf } = this.#options;
    return toUsage(this.counts ?? {}, { price, wrote: () => this.text.pieces > 0, asksLongCache });
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
    const isLast = this.#isDone && this.#reportedAt === this.text.pieces;
    const usage = (isLast ? withReported : withEarlyReport)(estimate, this.#reported);
    return withSearches(usage, this.#options.searches);
  }

  get resourceIds(): readonly string[] {
    return [...this.#resourceIds];
  }

  get hasAnswer(): boolean {
    return this.#hasAnswer || this.text.pieces > 0;
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
    if (mayFail(event) && this.#fails(event, eventData(event))) return 'end';
    this.#firstChunk ??= event.includes('"service_tier"') ? copied(event) : '';
    const isOutput = this.#collect(event);
    if (isOutput || event.includes('"finish_reason"')) this.#lastChunk = event;
    // Most chunks bring output, and are not parsed.
    const data = isOutput ? undefined : eventData(event);
    if (data) {
      if (this.#fails(event, data)) return 'end';
      this.#hasAnswer ||= hasAnswer(data);
    }
    if (event.includes('encrypted')) this.#encryptedBytes += encryptedBytes(data ?? eventData(event));
    if (this.#options.hasSound && event.includes('"audio"'))
      for (const id of chatResourceIds(data ?? eventData(event))) this.#resourceIds.add(id);
    const at = event.indexOf('"usage"');
    if (at >= 0) return this.#usageEvent(event, at, data);
    if (data) this.take(data);
    return 'pass';
  }

  /** Collects the output text of a chunk; returns whether there is any. */
  #collect(event: string): boolean {
    // An error outside choices may have a `message` too.
    if (!event.includes('"choices"')) return false;
    const { pieces } = this.text;
    for (const delta of this.#deltas) if (this.text.collect(event, delta)) break;
    return this.text.pieces > pieces;
  }

  #fails(event: string, data: Record<string, unknown> | undefined): boolean {
    if (!namesError(event) && !saysFailed(data)) return false;
    this.failed = true;
    if (data) this.take(data);
    return true;
  }

  #usageEvent(event: string, at: number, data: Record<string, unknown> | undefined): EventAction {
    const { injectedUsage } = this.#options;
    // If usage was requested, every chunk but the last has `"usage": null`. Parsing each took 5 % of a stream's CPU.
    const isNull = NULL_AHEAD.test(event.slice(at, at + NULL_WITHIN)) && event.indexOf('"usage"', at + 1) < 0;
    if (isNull && !injectedUsage) return 'pass';
    const chunk = isNull ? data : (data ?? eventData(event));
    if (chunk) this.take(chunk);
    if (!injectedUsage || !(isNull || chunk) || !hasOneDataLine(event)) return 'pass';
    if (chunk?.usage && isUsageAlone(chunk)) return 'drop';
    return isOutermost(event, at) ? { replacement: withoutMember(event, at) } : 'pass';
  }

  /** Takes the usage of a chunk; some providers report it beside an error. */
  protected override take(chunk: Record<string, unknown>): Report | undefined {
    const report = super.take(chunk);
    if (!report) return undefined;
    this.#serviceTiers = openaiTiers(chunk, this.#options.price) ?? this.#serviceTiers;
    this.#reportedAt = this.text.pieces;
    return report;
  }

  #tiersIn(chunk: string): readonly string[] | undefined {
    return chunk.includes('"service_tier"') ? openaiTiers(eventData(chunk), this.#options.price) : undefined;
  }
}

/** Whether a chunk holds nothing else that a client could want. */
function isUsageAlone(chunk: Readonly<Record<string, unknown>>): boolean {
  const { choices } = chunk;
  if ((choices ?? null) !== null && !(Array.isArray(choices) && choices.length === 0)) return false;
  return Object.entries(chunk).every(
    ([name, value]) => name === 'choices' || ENVELOPE.has(name) || value === null,
  );
}

/** An event without the member that begins at `at`, and one comma. */
function withoutMember(event: string, at: number): string {
  const end = valueEnd(event, skipSpace(event, event.indexOf(':', at) + 1));
  const next = skipSpace(event, end);
  if (event[next] === ',') return event.slice(0, at) + event.slice(next + 1);
  const before = event.slice(0, at).trimEnd();
  return (before.endsWith(',') ? before.slice(0, -1) : before) + event.slice(end);
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
    const content: unknown = choice?.message ?? choice?.delta;
    const audio = isObject(content) ? content.audio : undefined;
    if (isObject(audio) && typeof audio.id === 'string' && audio.id !== '') ids.push(audio.id);
  }
  return ids;
}
