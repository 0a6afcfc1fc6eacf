import type { Usage } from '../domain/usage.ts';
import { ChatStream } from './chat-stream.ts';
import { countPrompts, readPrompts } from './completions.ts';
import { type Meter, saysError } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { embeddingsToUsage } from './openai-usage.ts';
import { plainAsk } from './request/plain-ask.ts';
import { openaiTiers } from './service-tiers.ts';
import { reportedBy } from './usage.ts';

const REQUEST_OVERHEAD = 64;
/** Bound of the tokens that mark the start and the end of a text. */
const TEXT_OVERHEAD = 4;

/**
 * `/v1/embeddings`: charges input only. A token is at least one byte of the body, also where it is sent as its number.
 */
export const embeddings: Meter = {
  ask(body) {
    const { textBytes, value } = body;
    const input = textBytes + REQUEST_OVERHEAD + countPrompts(value.input) * TEXT_OVERHEAD;
    return plainAsk(body, { usage: { input }, likely: { textBytes, maxTokens: 0, answers: 1 } });
  },
  usage: (answer) => embeddingsToUsage(reportedBy(answer)),
  serviceTiers: (answer, { model }) => openaiTiers(answer, model.price),
  outputText: () => '',
  stream: (_injectedUsage, { model: { price } }) =>
    new ChatStream({ injectedUsage: false, price, isInterleaved: false, deltas: [] }),
  failed: saysError,
  async estimate({ value }: MeteredBody, _outputText, count): Promise<Usage> {
    const { text, tokens } = readPrompts(value.input);
    return { input: tokens + (await count(text)) };
  },
};
