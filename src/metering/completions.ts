import { ChatStream } from './chat-stream.ts';
import { asText } from './json/value.ts';
import { EVERYWHERE, membersOf, OPENAI_TEXTS, STREAM_OPTIONS } from './members.ts';
import { countOf, type InputTokens, type Meter, maximumOf, type ParsedRequest, textTokens } from './meter.ts';
import type { RequestPlan } from './plan.ts';
import { requestedTier } from './terms.ts';
import { tokensIn } from './text-tokens.ts';
import { TEXT_ONLY, type TokenPlan, tokenCost } from './token-cost.ts';
import { openaiAnswers } from './usage.ts';

/** Legacy completions: `CompletionCreateParams` of openai. */
export const COMPLETIONS = membersOf({
  ...EVERYWHERE,
  read: 'model stream stream_options',
  priced: 'service_tier',
  held: 'prompt max_tokens n best_of echo suffix',
  free: `frequency_penalty logit_bias.* logprobs presence_penalty seed stop temperature top_p user`,
  within: { stream_options: STREAM_OPTIONS },
  texts: {
    service_tier: OPENAI_TEXTS.service_tier,
    'prompt suffix': 'a token for each byte',
    'max_tokens n best_of':
      "for each prompt the maximum, else the model's `maxOutputTokens`, times the larger of `n` and `best_of`; 0 names none",
    echo: 'the prompt as output, too',
  },
});

/** `/v1/completions`: reports usage in the chat format. */
export const completions: Meter = {
  ...openaiAnswers((answer) => tokensIn(outputTextOf(answer))),
  plan: planCompletion,
  stream: (injectedUsage, { scalars, model: { price } }) => {
    // Several prompts, or several completions of one.
    const isInterleaved = scalars.n !== undefined || Array.isArray(scalars.prompt);
    return new ChatStream({ injectedUsage, price, isInterleaved, deltas: ['text'] });
  },
  inputTokens: (body) => promptTokens(body, body.value.prompt, asText(body.value.suffix)),
};

/**
 * Upper bound of the cost of a text completion. Input: a token takes at least one byte of the body; a token sent as a
 * number, at least a digit and a comma. Output: the maximum for each completion of each prompt, including the hidden
 * ones of `best_of`; with `echo`, each repeats the prompt.
 */
function planCompletion(body: ParsedRequest): RequestPlan {
  const { value, model, textBytes } = body;
  const { multiplier, ...tier } = requestedTier(body);
  const prompts = countPrompts(value.prompt);
  const plan: TokenPlan = {
    ...TEXT_ONLY,
    textBytes,
    prompts,
    maxTokens: maximumOf(body, 'max_tokens'),
    answers: Math.max(1, countOf(body, 'n') ?? 1, countOf(body, 'best_of') ?? 1) * prompts,
    echoed: value.echo ? textBytes + TEXT_ONLY.overhead : 0,
    multiplier,
  };
  return { ...tier, cost: (bounds) => tokenCost(model, plan, bounds) };
}

function outputTextOf(answer: unknown): string {
  const { choices } = (answer ?? {}) as { choices?: unknown };
  if (!Array.isArray(choices)) return '';
  return choices.map((choice: { text?: unknown } | null) => asText(choice?.text)).join('');
}

/**
 * `prompt` of a completion or `input` of an embedding, in OpenAI's four forms: a text, a list of texts, the token
 * numbers of one text, or a list of those.
 */
type Prompts = unknown;

/** Number of texts, each with a separate answer; 1 if there are none or the form is unknown. */
export function countPrompts(prompts: Prompts): number {
  if (!Array.isArray(prompts) || typeof prompts[0] === 'number') return 1;
  return Math.max(1, prompts.length);
}

/** Tokens of all texts, and those sent as numbers. */
export function promptTokens(body: ParsedRequest, prompts: Prompts, suffix = ''): InputTokens {
  const texts = [suffix];
  let tokens = 0;
  for (const prompt of Array.isArray(prompts) ? prompts : [prompts]) {
    if (typeof prompt === 'string') texts.push(prompt);
    else if (Array.isArray(prompt)) tokens += prompt.length;
    else if (typeof prompt === 'number') tokens++;
  }
  return { text: tokens + textTokens(body, texts.join(' ')), media: 0 };
}
