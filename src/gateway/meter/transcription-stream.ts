import type { Usage } from '../../domain/ledger-entry.ts';
import type { CallBody } from '../call-body.ts';
import { eventData } from './event-data.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { transcriptionUsage } from './transcription-usage.ts';

/** Events `transcript.text.delta`, then `transcript.text.done` with `usage`. */
export class TranscriptionStream implements StreamMeter {
  readonly #body: CallBody;
  readonly #written: string[] = [];
  #usage: Usage | undefined;

  constructor(body: CallBody) {
    this.#body = body;
    this.#usage = transcriptionUsage(undefined, body);
  }

  /** As reported, else all that was sent as far as it is known: the provider has it all and bills it. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  written(): string {
    return this.#written.join('');
  }

  event(event: string): Verdict {
    const data = event.includes('transcript.text.') ? eventData(event) : undefined;
    if (data?.type === 'transcript.text.delta' && typeof data.delta === 'string') {
      this.#written.push(data.delta);
    }
    if (data?.type !== 'transcript.text.done') return 'pass';
    this.#usage = transcriptionUsage(data, this.#body);
    return 'end';
  }
}
