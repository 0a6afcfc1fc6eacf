import type { Usage } from '../domain/ledger-entry.ts';
import type { Shape } from './json-sieve.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { eventData, saysDone, saysFailed } from './sse-event.ts';
import { transcriptionUsage } from './transcription-usage.ts';
import { WrittenText } from './written-text.ts';

/** Events `transcript.text.delta`, then `transcript.text.done` with `usage`. */
export class TranscriptionStream implements StreamMeter {
  readonly #body: MeteredBody;
  readonly #written = new WrittenText();
  #usage: Usage | undefined;
  #failed = false;

  constructor(body: MeteredBody) {
    this.#body = body;
    this.#usage = transcriptionUsage(undefined, body);
  }

  /**
   * As reported, else all that was sent as far as it is known: the provider has it all and bills it, unless it failed
   * before it wrote anything.
   */
  get usage(): Usage | undefined {
    return this.#failed && this.#written.pieces === 0 ? undefined : this.#usage;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Read only before the end: its event has ended the answer. */
  readonly isWhole = false;

  written(): string {
    return this.#written.toString();
  }

  get pieces(): number {
    return this.#written.pieces;
  }

  /** No event tells the last words from others. */
  readonly isClosing = false;

  get kept(): Shape {
    return { type: 'all', error: 'all', delta: this.#written, usage: 'all', duration: 'all' };
  }

  corrected(estimate: Usage): Usage {
    return this.#written.scaled(estimate);
  }

  event(event: string): Verdict {
    if (saysDone(event)) return 'end';
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    const data = event.includes('transcript.text.') ? eventData(event) : undefined;
    if (data?.type === 'transcript.text.delta') this.#written.collect(event, '"delta"');
    if (data?.type !== 'transcript.text.done') return 'pass';
    this.#usage = transcriptionUsage(data, this.#body);
    return 'end';
  }
}
