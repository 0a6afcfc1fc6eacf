import type { Price } from '../domain/catalog.ts';
import { windowOf } from './bounds.ts';
import { ChatStream } from './chat-stream.ts';
import { countPrompts, promptTokens } from './completions.ts';
import { isObject } from './json/value.ts';
import { EVERYWHERE, membersOf, OPENAI_TEXTS } from './members.ts';
import type { Meter } from './meter.ts';
import { plainPlan } from './plain-plan.ts';
import { openaiTerms } from './terms.ts';
import { type Counts, type Reading, type ReportedUsage, reportIn, usageOf } from './usage-report.ts';

export const EMBEDDINGS = membersOf({
  ...EVERYWHERE,
  read: 'model',
  priced: 'service_tier',
  held: 'input.*',
  free: 'dimensions encoding_format user',
  texts: { service_tier: OPENAI_TEXTS.service_tier, input: 'a token for each byte, and a few for each text' },
});

const REQUEST_OVERHEAD = 64;
/** Bound of the tokens that mark the start and end of a text. */
const TEXT_OVERHEAD = 4;

/** `/v1/embeddings`: charges input only. A token takes at least one byte of the body, even when sent as a number. */
export const embeddings: Meter = {
  plan(body) {
    const { textBytes, value, model } = body;
    const texts = countPrompts(value.input);
    const tokens = textBytes + REQUEST_OVERHEAD + texts * TEXT_OVERHEAD;
    return plainPlan(body, {
      usage: {},
      input: (bounds) => ({ tokens: Math.min(tokens, texts * windowOf(model, bounds)), media: 0 }),
      expected: { textBytes, maxTokens: 0, answers: 1 },
    });
  },
  usage: (answer, body) => reportedInput(answer, body.model.price).input,
  terms: (answer, { model }) => openaiTerms(answer, model.price),
  outputTokens: () => 0,
  stream: (_injectedUsage, { model: { price } }) =>
    new ChatStream({ injectedUsage: false, price, isInterleaved: false, deltas: [], toUsage: inputOf }),
  inputTokens: (body) => promptTokens(body, body.value.input),
  estimate: ({ input }) => ({ input }),
};

function reportedInput(answer: unknown, price: Price): ReportedUsage {
  const report = reportIn(answer);
  const wrote = () => isObject(answer) && Array.isArray(answer.data) && answer.data.length > 0;
  return report ? inputOf(report.counts, { price, wrote }) : {};
}

/** Embeddings have no output; Voyage reports a total alone. */
function inputOf({ total, output: _, ...counts }: Counts, reading: Reading): ReportedUsage {
  const input = counts.input || total;
  const { input: usage } = usageOf(input === undefined ? counts : { ...counts, input }, reading);
  return usage ? { input: usage, output: {} } : {};
}
