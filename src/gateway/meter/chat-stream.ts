import type { Usage } from '../../domain/ledger-entry.ts';
import { chatUsage } from './chat-usage.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { eventData } from './sse-event.ts';
import { WrittenText } from './written-text.ts';

/** Members of a chat chunk's delta that hold what the model wrote. */
export const CHAT_DELTAS = ['content', 'arguments', 'reasoning_content', 'refusal'] as const;

const NULL_USAGE = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/;
const DONE = /^data: ?\[DONE\]/m;
/** How OpenAI's format says within a stream that the call failed. */
const FAILED = /^data: ?\{\s*"error"\s*:\s*\{/m;

/**
 * Reads a stream of chat or text completion chunks as it passes, event by event. Events come as Latin-1 text (a byte a
 * character), so that looking at them costs little and positions are those of the bytes; only what is needed is decoded.
 */
export class ChatStream implements StreamMeter {
  readonly #injectedUsage: boolean;
  readonly #written: WrittenText;
  #usage: Usage | undefined;
  #failed = false;

  /** `injectedUsage`: the gateway asked for the usage chunk, so the client must not see a trace of it. */
  constructor(injectedUsage: boolean, deltas: readonly string[] = CHAT_DELTAS) {
    this.#injectedUsage = injectedUsage;
    this.#written = new WrittenText(deltas);
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** What the model wrote until now: text, tool arguments, reasoning. */
  written(): string {
    return this.#written.toString();
  }

  event(event: string): Verdict {
    if (event.includes('[DONE]') && DONE.test(event)) return 'end';
    // Held back like the end: clients leave as soon as they have read it.
    if (event.includes('"error"') && FAILED.test(event)) {
      this.#failed = true;
      return 'end';
    }
    this.#written.collect(event);
    const at = event.indexOf('"usage"');
    return at < 0 ? 'pass' : this.#usageEvent(event);
  }

  #usageEvent(event: string): Verdict {
    const chunk = eventData(event) as { usage?: unknown; choices?: unknown } | undefined;
    const usage = chatUsage(chunk);
    if (usage) this.#usage = usage;
    if (!this.#injectedUsage || !chunk) return 'pass';
    if (chunk.usage && Array.isArray(chunk.choices) && chunk.choices.length === 0) return 'drop';
    // Asked for usage, providers put "usage": null into every other chunk as well.
    if (chunk.usage === null) return { replacement: event.replace(NULL_USAGE, '') };
    return 'pass';
  }
}
