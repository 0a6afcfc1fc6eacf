import type { Terms } from '../domain/bill.ts';
import type { Usage } from '../domain/units.ts';
import type { Shape } from './json/sieve.ts';
import { isObject } from './json/value.ts';
import {
  beyondTotals,
  dividedWrites,
  hasOtherModels,
  iterationsOf,
  type MessagesCounts,
  messagesCounts,
  messagesToUsage,
  partialUsage,
  passTerms,
  usageOfCounts,
} from './messages-usage.ts';
import type { EventAction, MeteredBody } from './meter.ts';
import { TextStream } from './output-text.ts';
import { HiddenThinking } from './reasoning.ts';
import { eventData, eventName } from './sse/event.ts';
import { asksLongCache, type MessagesTiers, messagesTiers, tierNames } from './terms.ts';
import { addUsage, mergeReported, reportedBy, withSearches } from './usage.ts';

const TOOL_RESULT = /"content_block"\s*:\s*\{\s*"type"\s*:\s*"[a-z_]*_tool_result"/;
const SEARCH_RESULT = 'web_search_tool_result';
const COMPACTION = /"content_block"\s*:\s*\{\s*"type"\s*:\s*"compaction"/;

/**
 * Measures a `/v1/messages` stream. `message_start` and the `message_delta`s report cumulative usage, so the last value
 * of each field counts. The delta with a `stop_reason` completes it. A stream that ends earlier has reported about one
 * token of output and neither searches nor compaction. Its charge is an estimate: the larger of reported and counted
 * output, the search results seen, and one input pass for each compaction.
 */
export class MessagesStream extends TextStream {
  #blocks = 0;
  readonly #thinking = new HiddenThinking();
  readonly #body: MeteredBody;
  #reported: MessagesCounts = {};
  #tiers: MessagesTiers = {};
  #iterations: unknown;
  /** Search results seen. */
  #searches = 0;
  /** Summaries started: each is a model call that read the whole conversation. */
  #compactions = 0;
  /** Set by the delta with a `stop_reason`. */
  isWhole = false;
  /** Pieces of output text before the `stop_reason`. */
  #stoppedAt = 0;
  #isRefused = false;
  /** The delta with the `stop_reason` had a usable output count. */
  #isBelieved = false;
  readonly #resourceIds = new Set<string>();

  constructor(body: MeteredBody) {
    super();
    this.#body = body;
  }

  get usage(): Usage | undefined {
    if (!this.isWhole || !this.#isBelieved) return undefined;
    // Zero output reported before any text is no report.
    if (this.#stoppedAt === 0 && this.text.pieces > 0 && !this.#reported.output) return undefined;
    const webSearches = this.#reported.webSearches ?? this.#searches;
    return usageOfCounts({ ...this.#counts, webSearches }, this.#iterations);
  }

  get #counts(): MessagesCounts {
    return dividedWrites(this.#reported, () => asksLongCache(this.#body));
  }

  get terms(): Terms {
    return {
      serviceTiers: tierNames(this.#tiers, this.#body),
      ...passTerms(this.#iterations, this.#body),
      ...(this.#isRefused && this.#blocks === 0 ? { isUnbilled: true } : {}),
    };
  }

  get isEstimated(): boolean {
    return hasOtherModels(this.#iterations);
  }

  mergeReported(estimate: Usage): Usage {
    const usage = mergeReported(estimate, partialUsage(this.#counts));
    const { output: _, ...beyond } = this.#iterations
      ? beyondTotals(this.#iterations)
      : { input: (estimate.input ?? 0) * this.#compactions };
    addUsage(usage, beyond);
    return withSearches(usage, Math.max(this.#searches, this.#reported.webSearches ?? 0));
  }

  get isReported(): boolean {
    return this.isWhole && this.#isBelieved;
  }

  get hiddenTokens(): number {
    return this.#thinking.tokens;
  }

  get kept(): Shape {
    const container = { id: 'all' } as const;
    return {
      type: 'all',
      error: 'all',
      message: { usage: 'all', container },
      content_block: this.text,
      delta: this.text,
      usage: 'all',
    };
  }

  get resourceIds(): readonly string[] {
    return [...this.#resourceIds];
  }

  event(event: string): EventAction {
    switch (eventName(event)) {
      case 'content_block_delta':
        this.#contentDelta(event);
        return 'pass';
      case 'content_block_start':
        this.#blocks++;
        this.#thinking.block(event, this.text.pieces);
        // Results of the provider's tools come as blocks too, and are not output of the model.
        if (!TOOL_RESULT.test(event)) this.text.collect(event, '"content_block"');
        if (event.includes('file_id')) this.#note(fileIds(eventData(event)?.content_block));
        if (COMPACTION.test(event)) this.#compactions++;
        if (event.includes(SEARCH_RESULT)) this.#search(eventData(event)?.content_block);
        return 'pass';
      case 'message_start':
        this.#start(eventData(event));
        return 'pass';
      case 'message_delta':
        this.#delta(eventData(event));
        return 'pass';
      case 'message_stop':
        return 'end';
      case 'error':
        // Held back like the end, because clients leave once they have read it.
        this.failed = true;
        return 'end';
      default:
        return 'pass';
    }
  }

  #contentDelta(event: string): void {
    const { pieces } = this.text;
    this.text.collect(event, '"delta"');
    // Visible content hides nothing.
    if (this.text.pieces === pieces) this.#thinking.delta(event, pieces);
  }

  #start(data: unknown): void {
    const message = isObject(data) ? data.message : undefined;
    // The start must report all input counts; otherwise none is used.
    if (isObject(message) && messagesToUsage(reportedBy(message))) this.#take(message);
    this.#note(messagesResourceIds(message));
  }

  #delta(data: unknown): void {
    if (!isObject(data)) return;
    const isTaken = this.#take(data);
    const { delta } = data;
    if (!isObject(delta)) return;
    if (typeof delta.stop_reason === 'string') {
      this.isWhole = true;
      this.#stoppedAt = this.text.pieces;
      this.#isRefused = delta.stop_reason === 'refusal';
      this.#isBelieved = isTaken;
    }
    this.#note(messagesResourceIds(delta));
  }

  #note(ids: readonly string[]): void {
    for (const id of ids) this.#resourceIds.add(id);
  }

  /** Counts a search result. A failed search has an object in place of the list, and is not billed. */
  #search(block: unknown): void {
    if (isObject(block) && block.type === SEARCH_RESULT && !isObject(block.content)) this.#searches++;
  }

  /** Merges the usage of an event; returns whether it has a usable output count. */
  #take({ usage }: { usage?: unknown }): boolean {
    const counts = messagesCounts(usage);
    if (!counts) return false;
    this.#reported = { ...this.#reported, ...counts };
    this.#tiers = { ...this.#tiers, ...messagesTiers(usage) };
    this.#iterations = iterationsOf(usage) ?? this.#iterations;
    return counts.output !== undefined;
  }
}

/** Ids of objects that the provider stores: the code container and the files created in it. */
export function messagesResourceIds(message: unknown): string[] {
  if (!isObject(message)) return [];
  const { container, content } = message;
  const ids = Array.isArray(content) ? content.flatMap(fileIds) : [];
  return isObject(container) && typeof container.id === 'string' ? [container.id, ...ids] : ids;
}

/** Ids of files in a `code_execution_tool_result` or `bash_code_execution_tool_result` block. */
function fileIds(block: unknown): string[] {
  const result = isObject(block) ? block.content : undefined;
  const files = isObject(result) && Array.isArray(result.content) ? result.content : [];
  return files.flatMap((file) => (isObject(file) && typeof file.file_id === 'string' ? [file.file_id] : []));
}
