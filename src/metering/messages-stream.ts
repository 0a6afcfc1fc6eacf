import type { Terms } from '../domain/bill.ts';
import type { Usage } from '../domain/units.ts';
import { hasAnswer } from './answer.ts';
import type { Shape } from './json/sieve.ts';
import { asText, isObject } from './json/value.ts';
import { beyondTotals, hasOtherModels, passTerms, withPasses } from './messages-passes.ts';
import type { EventAction, RequestFacts } from './meter.ts';
import { TextStream } from './output-text.ts';
import { HiddenThinking } from './reasoning.ts';
import { eventData, eventFailed, eventName, saysDone } from './sse/event.ts';
import { type MessagesTiers, messagesTiers, tierNames } from './terms.ts';
import { addUsage, readingOf, withSearches } from './usage.ts';
import { type Report, type ReportedUsage, withEarlyReport, withReported } from './usage-report.ts';

const TOOL_RESULT = /"content_block"\s*:\s*\{\s*"type"\s*:\s*"[a-z_]*_tool_result"/;
const SEARCH_RESULT = 'web_search_tool_result';
const COMPACTION = /"content_block"\s*:\s*\{\s*"type"\s*:\s*"compaction"/;

/**
 * Measures a `/v1/messages` stream. `message_start` and the `message_delta`s report cumulative usage, so the largest
 * value of each count is right. The delta with a `stop_reason` completes it. A stream that ends earlier has reported about one
 * token of output and neither searches nor compaction. Its charge is an estimate: the larger of reported and counted
 * output, the search results seen, and one input pass for each compaction.
 */
export class MessagesStream extends TextStream {
  #blocks = 0;
  readonly #thinking = new HiddenThinking();
  readonly #body: RequestFacts;
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
  /** The event with the `stop_reason`, or a later one, counted output. */
  #isBelieved = false;
  readonly #resourceIds = new Set<string>();

  constructor(body: RequestFacts) {
    super();
    this.#body = body;
  }

  get usage(): Usage | undefined {
    if (!this.isReported) return undefined;
    // Zero output reported before any text is no report.
    if (this.#stoppedAt === 0 && this.text.pieces > 0 && !this.counts?.output) return undefined;
    const usage = withPasses(this.#reported, this.#iterations);
    return usage && withSearches(usage, this.counts?.webSearches ?? this.#searches);
  }

  get #reported(): ReportedUsage {
    return this.usageBy({ ...readingOf(this.#body, () => this.text.pieces > 0), isMessage: true });
  }

  /** A block or a `stop_reason` has come. */
  get hasAnswer(): boolean {
    return this.#blocks > 0 || (this.isWhole && !this.failed) || this.text.pieces > 0;
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
    const usage = (this.isReported ? withReported : withEarlyReport)(estimate, this.#reported);
    const { output: _, ...beyond } = this.#iterations
      ? beyondTotals(this.#iterations)
      : { input: (estimate.input ?? 0) * this.#compactions };
    addUsage(usage, beyond);
    return withSearches(usage, Math.max(this.#searches, this.counts?.webSearches ?? 0));
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
      'amazon-bedrock-invocationMetrics': 'all',
    };
  }

  get resourceIds(): readonly string[] {
    return [...this.#resourceIds];
  }

  event(event: string): EventAction {
    if (saysDone(event)) return 'end';
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
        this.take(eventData(event));
        return 'end';
      case 'content_block_stop':
      case 'ping':
        return 'pass';
      default:
        return this.#other(event);
    }
  }

  /**
   * An error, which is held back like the end, because clients leave once they have read it; a whole message; or a
   * report by itself.
   */
  #other(event: string): EventAction {
    const data = eventData(event);
    this.failed = eventFailed(event);
    const isMessage = hasAnswer(data);
    if (isMessage) {
      this.#blocks++;
      this.text.collectValue(asText(data?.content));
    }
    if (isMessage || this.failed) this.#stopped(data?.stop_reason);
    this.take(data);
    return this.failed ? 'end' : 'pass';
  }

  /** Usage that comes from here on counts all output. */
  #stopped(reason: unknown): void {
    this.isWhole = true;
    this.#stoppedAt = this.text.pieces;
    this.#isRefused = reason === 'refusal';
    this.#isBelieved = false;
  }

  #contentDelta(event: string): void {
    const { pieces } = this.text;
    this.text.collect(event, '"delta"');
    // Visible content hides nothing.
    if (this.text.pieces === pieces) this.#thinking.delta(event, pieces);
  }

  #start(data: unknown): void {
    this.take(data);
    this.#note(messagesResourceIds(isObject(data) ? data.message : undefined));
  }

  #delta(data: unknown): void {
    const delta = isObject(data) ? data.delta : undefined;
    if (isObject(delta) && typeof delta.stop_reason === 'string' && delta.stop_reason !== '')
      this.#stopped(delta.stop_reason);
    this.take(data);
    if (isObject(delta)) this.#note(messagesResourceIds(delta));
  }

  #note(ids: readonly string[]): void {
    for (const id of ids) this.#resourceIds.add(id);
  }

  /** Counts a search result. A failed search has an object in place of the list, and is not billed. */
  #search(block: unknown): void {
    if (isObject(block) && block.type === SEARCH_RESULT && !isObject(block.content)) this.#searches++;
  }

  protected override take(data: unknown): Report | undefined {
    const report = super.take(data);
    if (!report) return undefined;
    const { counts, raw } = report;
    this.#tiers = { ...this.#tiers, ...messagesTiers(raw) };
    this.#iterations = raw.iterations ?? this.#iterations;
    if (this.isWhole && (counts.output ?? counts.total) !== undefined) this.#isBelieved = true;
    return report;
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
