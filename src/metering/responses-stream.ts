import type { Usage } from '../domain/ledger-entry.ts';
import type { Shape } from './json-sieve.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { asText, isObject } from './parts.ts';
import { responseResourceIds, responsesUsage } from './responses-usage.ts';
import { eventData, eventName, saysFailed } from './sse-event.ts';
import { WrittenText } from './written-text.ts';

/** The events that end a stream; the response within carries the usage. */
const TERMINAL: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);
/** Deltas of sound, which is not text: `response.audio.delta`, `response.output_audio.delta`. */
const AUDIO = /audio\.delta$/;

/** Reads a stream of `/v1/responses` as it passes. */
export class ResponsesStream implements StreamMeter {
  readonly #written = new WrittenText();
  /** How many pieces had come when the last item began. */
  #piecesBefore = 0;
  #isClosing = false;
  #usage: Usage | undefined;
  #failed = false;
  #resourceIds: readonly string[] = [];

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Read only before the end: its event has ended the answer. */
  readonly isWhole = false;

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get pieces(): number {
    return this.#written.pieces;
  }

  get kept(): Shape {
    const item = { type: 'all', id: 'all', container_id: 'all' } as const;
    const response = { id: 'all', store: 'all', error: 'all', usage: 'all', output: [item] } as const;
    return { type: 'all', error: 'all', delta: this.#written, response };
  }

  /** Only what was reported is better known than the estimate; of very long answers, its length. */
  corrected(estimate: Usage): Usage {
    return this.#written.scaled(estimate);
  }

  get resourceIds(): readonly string[] {
    return this.#resourceIds;
  }

  /** Text, refusals, reasoning and its summary, arguments and code for tools. */
  written(): string {
    return this.#written.toString();
  }

  event(event: string): Verdict {
    const name = eventName(event);
    if (name.endsWith('.delta')) {
      this.#isClosing = false;
      if (!AUDIO.test(name)) this.#written.collect(event, '"delta"');
      return 'pass';
    }
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    if (!TERMINAL.has(name)) {
      this.#item(name, event);
      return 'pass';
    }
    const data = eventData(event);
    const response = isObject(data) ? data.response : undefined;
    const output = isObject(response) ? response.output : undefined;
    this.#usage = responsesUsage(response);
    this.#resourceIds = responseResourceIds(response);
    this.#failed = name === 'response.failed';
    // A provider may send neither deltas nor usage.
    if (!this.#usage && this.#written.pieces === 0) this.#written.collectValue(asText(output));
    return 'end';
  }

  /** What tools are called with comes as a whole item only, where the tool has no deltas. */
  #item(name: string, event: string): void {
    this.#isClosing = name.endsWith('.done');
    if (name === 'response.output_item.added') this.#piecesBefore = this.#written.pieces;
    if (name !== 'response.output_item.done') return;
    if (this.#written.pieces === this.#piecesBefore) this.#written.collect(event, '"item"');
    this.#piecesBefore = this.#written.pieces;
  }
}
