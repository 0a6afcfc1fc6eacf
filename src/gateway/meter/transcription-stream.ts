import type { Usage } from '../../domain/ledger-entry.ts';
import type { CallBody } from '../call-body.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { eventData, saysDone, saysFailed } from './sse-event.ts';
import { transcriptionUsage } from './transcription-usage.ts';

/** Events `transcript.text.delta`, then `transcript.text.done` with `usage`. */
export class TranscriptionStream implements StreamMeter {
  readonly #body: CallBody;
  readonly #written: string[] = [];
  #usage: Usage | undefined;
  #failed = false;

  constructor(body: CallBody) {
    this.#body = body;
    this.#usage = transcriptionUsage(undefined, body);
  }

  /**
   * As reported, else all that was sent as far as it is known: the provider has it all and bills it, unless it failed
   * before it wrote anything.
   */
  get usage(): Usage | undefined {
    return this.#failed && this.#written.length === 0 ? undefined : this.#usage;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Read only before the end: its event has ended the answer. */
  readonly isWhole = false;

  written(): string {
    return this.#written.join('');
  }

  event(event: string): Verdict {
    if (saysDone(event)) return 'end';
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    const data = event.includes('transcript.text.') ? eventData(event) : undefined;
    if (data?.type === 'transcript.text.delta' && typeof data.delta === 'string') {
      this.#written.push(data.delta);
    }
    if (data?.type !== 'transcript.text.done') return 'pass';
    this.#usage = transcriptionUsage(data, this.#body);
    return 'end';
  }
}
