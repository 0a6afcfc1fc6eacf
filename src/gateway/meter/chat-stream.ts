import type { Usage } from '../../domain/ledger-entry.ts';
import { chatUsage } from './chat-usage.ts';
import type { StreamMeter, Verdict } from './meter.ts';

/** Members of a delta that hold what the model wrote. */
const WRITTEN = ['"content":"', '"arguments":"', '"reasoning_content":"', '"refusal":"'] as const;

const NULL_USAGE = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/;

/**
 * Reads a chat stream as it passes, event by event. Events come as Latin-1 text (a byte a character), so that
 * looking at them costs little and positions are those of the bytes; only what is needed is decoded.
 */
export class ChatStream implements StreamMeter {
  readonly #injectedUsage: boolean;
  /** Escaped JSON text, Latin-1; decoded only where usage must be estimated. */
  readonly #written: string[] = [];
  #usage: Usage | undefined;

  /** `injectedUsage`: the gateway asked for the usage chunk, so the client must not see a trace of it. */
  constructor(injectedUsage: boolean) {
    this.#injectedUsage = injectedUsage;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** What the model wrote until now: text, tool arguments, reasoning. */
  written(): string {
    return this.#written
      .map((raw) => {
        try {
          return JSON.parse(`"${Buffer.from(raw, 'latin1').toString('utf8')}"`) as string;
        } catch {
          return raw;
        }
      })
      .join('');
  }

  event(event: string): Verdict {
    if (event.includes('data: [DONE]') || event.includes('data:[DONE]')) return 'end';
    this.#collect(event);
    const at = event.indexOf('"usage"');
    return at < 0 ? 'pass' : this.#usageEvent(event);
  }

  #usageEvent(event: string): Verdict {
    const chunk = parseData(event);
    const usage = chatUsage(chunk);
    if (usage) this.#usage = usage;
    if (!this.#injectedUsage || !chunk) return 'pass';
    if (chunk.usage && Array.isArray(chunk.choices) && chunk.choices.length === 0) return 'drop';
    // Asked for usage, providers put "usage": null into every other chunk as well.
    if (chunk.usage === null) return { replacement: event.replace(NULL_USAGE, '') };
    return 'pass';
  }

  #collect(event: string): void {
    for (const marker of WRITTEN) {
      let from = event.indexOf(marker);
      while (from >= 0) {
        const start = from + marker.length;
        const end = closingQuote(event, start);
        if (end > start) this.#written.push(event.slice(start, end));
        from = event.indexOf(marker, end + 1);
      }
    }
  }
}

function parseData(event: string): { usage?: unknown; choices?: unknown } | undefined {
  const text = Buffer.from(event, 'latin1').toString('utf8');
  const data = text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    return JSON.parse(data) as { usage?: unknown; choices?: unknown };
  } catch {
    return undefined;
  }
}

/** Index of the quote that closes the string whose text starts at `from`; the end of the text where it is cut off. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
