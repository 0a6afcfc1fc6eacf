import type { Usage } from '../../domain/ledger-entry.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { isObject } from './parts.ts';
import { responsesMade, responsesUsage } from './responses-usage.ts';
import { eventData, eventName, saysFailed } from './sse-event.ts';
import { WrittenText } from './written-text.ts';

/** The events that end a stream; the response within carries the usage. */
const TERMINAL: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);
/** Deltas of sound, which is not text. */
const AUDIO = 'response.audio.delta';

/** Reads a stream of `/v1/responses` as it passes. */
export class ResponsesStream implements StreamMeter {
  readonly #written = new WrittenText(['delta']);
  #usage: Usage | undefined;
  #failed = false;
  #made: readonly string[] = [];

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Read only before the end: its event has ended the answer. */
  readonly isWhole = false;

  get made(): readonly string[] {
    return this.#made;
  }

  /** Text, refusals, reasoning and its summary, arguments and code for tools. */
  written(): string {
    return this.#written.toString();
  }

  event(event: string): Verdict {
    const name = eventName(event);
    if (name.endsWith('.delta')) {
      if (name !== AUDIO) this.#written.collect(event);
      return 'pass';
    }
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    if (!TERMINAL.has(name)) return 'pass';
    const data = eventData(event);
    const response = isObject(data) ? data.response : undefined;
    this.#usage = responsesUsage(response);
    this.#made = responsesMade(response);
    this.#failed = name === 'response.failed';
    return 'end';
  }
}
