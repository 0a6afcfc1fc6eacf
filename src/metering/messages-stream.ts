import type { Usage } from '../domain/usage.ts';
import type { Shape } from './json-sieve.ts';
import { isObject } from './json-value.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { OutputTextCollector } from './output-text.ts';
import { eventData, eventName } from './sse/event.ts';
import {
  addTokens,
  compactionToUsage,
  mergeReported,
  messagesToPartialUsage,
  messagesToUsage,
  reportedBy,
} from './usage.ts';

const TOOL_RESULT = /"content_block"\s*:\s*\{\s*"type"\s*:\s*"[a-z_]*_tool_result"/;

/**
 * Reads a stream of `/v1/messages` as it passes. Usage is spread over `message_start` and the `message_delta`s, whose
 * counts are cumulative: of each field the last value counts. Usage is complete once a delta has a `stop_reason`. A
 * stream that ends before has reported the output of its start only (a token or so): then the output text is counted,
 * and the larger of the two is charged, as an estimate.
 */
export class MessagesStream implements StreamMeter {
  readonly #outputText = new OutputTextCollector();
  #blocks = 0;
  /** True from the end of a block to the beginning of the next. */
  #isBetween = false;
  #reported: Usage = {};
  #compaction: Usage = {};
  #stopped = false;
  /** The delta with the `stop_reason` had a usable report of the output. */
  #isBelieved = false;
  #failed = false;
  readonly #resourceIds = new Set<string>();

  get usage(): Usage | undefined {
    const { input, output } = this.#reported;
    if (!this.#stopped || !this.#isBelieved || input === undefined || output === undefined) return undefined;
    return addTokens({ cachedInput: 0, cacheWrite: 0, ...this.#reported }, this.#compaction);
  }

  mergeReported(estimate: Usage): Usage {
    return mergeReported(this.#outputText.scaled(estimate), this.#reported);
  }

  get isWhole(): boolean {
    return this.#stopped;
  }

  get isClosing(): boolean {
    return this.#stopped || this.#isBetween;
  }

  get pieces(): number {
    return this.#outputText.pieces + this.#blocks;
  }

  get kept(): Shape {
    const container = { id: 'all' } as const;
    return {
      type: 'all',
      error: 'all',
      message: { usage: 'all', container },
      content_block: this.#outputText,
      delta: this.#outputText,
      usage: 'all',
    };
  }

  get failed(): boolean {
    return this.#failed;
  }

  get resourceIds(): readonly string[] {
    return [...this.#resourceIds];
  }

  /** Text, thinking, and names and arguments of tool calls. */
  outputText(): string {
    return this.#outputText.toString();
  }

  event(event: string): Verdict {
    switch (eventName(event)) {
      case 'content_block_delta':
        this.#isBetween = false;
        this.#outputText.collect(event, '"delta"');
        return 'pass';
      case 'content_block_start':
        this.#isBetween = false;
        this.#blocks++;
        // Results of the provider's tools come as blocks too, and are not output of the model.
        if (!TOOL_RESULT.test(event)) this.#outputText.collect(event, '"content_block"');
        if (event.includes('file_id')) this.#note(fileIds(eventData(event)?.content_block));
        return 'pass';
      case 'content_block_stop':
        this.#isBetween = true;
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
        // An error is held back like the end, since clients leave as soon as they have read it.
        this.#failed = true;
        return 'end';
      default:
        return 'pass';
    }
  }

  #start(data: unknown): void {
    const message = isObject(data) ? data.message : undefined;
    // The usage of the start must have all of the input, or none of it is believed.
    if (isObject(message) && messagesToUsage(reportedBy(message))) this.#take(message);
    this.#note(messagesResourceIds(message));
  }

  #delta(data: unknown): void {
    if (!isObject(data)) return;
    const isTaken = this.#take(data);
    const { delta } = data;
    if (!isObject(delta)) return;
    if (typeof delta.stop_reason === 'string') {
      this.#stopped = true;
      this.#isBelieved = isTaken;
    }
    this.#note(messagesResourceIds(delta));
  }

  #note(ids: readonly string[]): void {
    for (const id of ids) this.#resourceIds.add(id);
  }

  /** Takes what an event reports; false where it has no usable report of the output. */
  #take({ usage }: { usage?: unknown }): boolean {
    const part = messagesToPartialUsage(usage);
    if (!part) return false;
    this.#reported = { ...this.#reported, ...part };
    if (isObject(usage) && usage.iterations) this.#compaction = compactionToUsage(usage);
    return part.output !== undefined;
  }
}

/** Ids of what the provider stores for later messages: the container in which code ran, and the files that it made. */
export function messagesResourceIds(message: unknown): string[] {
  if (!isObject(message)) return [];
  const { container, content } = message;
  const ids = Array.isArray(content) ? content.flatMap(fileIds) : [];
  return isObject(container) && typeof container.id === 'string' ? [container.id, ...ids] : ids;
}

/** Ids of files that code made, from a `code_execution_tool_result` or `bash_code_execution_tool_result` block. */
export function fileIds(block: unknown): string[] {
  const result = isObject(block) ? block.content : undefined;
  const files = isObject(result) && Array.isArray(result.content) ? result.content : [];
  return files.flatMap((file) => (isObject(file) && typeof file.file_id === 'string' ? [file.file_id] : []));
}
