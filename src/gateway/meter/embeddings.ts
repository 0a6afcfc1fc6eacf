import type { Usage } from '../../domain/ledger-entry.ts';
import type { JsonBody } from '../body.ts';
import { boundOf } from './chat-hold.ts';
import { ChatStream } from './chat-stream.ts';
import { chatUsage } from './chat-usage.ts';
import type { Meter } from './meter.ts';
import { countPrompts, readPrompts } from './prompts.ts';

const REQUEST_OVERHEAD = 64;
/** Tokens that mark the start and the end of a text. */
const TEXT_OVERHEAD = 4;

/** `/v1/embeddings`: input only. A token is at least a byte of the body, also where it is sent as its number. */
export const embeddings: Meter = {
  hold({ textBytes, model, value }) {
    return boundOf(model, textBytes + REQUEST_OVERHEAD + countPrompts(value.input) * TEXT_OVERHEAD, 0);
  },
  usage(answer): Usage | undefined {
    const usage = chatUsage(answer);
    if (usage) delete usage.output;
    return usage;
  },
  written: () => '',
  stream: () => new ChatStream(false, []),
  async estimate({ value }: JsonBody, _written, count): Promise<Usage> {
    const { text, tokens } = readPrompts(value.input);
    return { input: tokens + (await count(text)) };
  },
};
