import { count, isObject, tokensIn } from './chat-request.ts';
import type { DemoRoute } from './route.ts';
import { CREATED_S, cut, idOf, say } from './say.ts';

/**
 * `POST /v1/completions`. The prompt is a text, a list of texts, a list of token numbers, or a list of such lists; each
 * prompt is answered `n` times. Usage counts every prompt once and every answer; a token number is one token.
 */
export const completionsRoute: DemoRoute = (json, body, options) => {
  const prompts = promptsOf(json.prompt);
  const choices = prompts.flatMap(({ text: prompt }) => {
    const { text, isCut } = say(prompt, count(json.max_tokens), options);
    const said = json.echo === true ? prompt + text : text;
    const choice = { text: said, logprobs: null, finish_reason: isCut ? 'length' : 'stop' };
    return Array.from({ length: count(json.n) ?? 1 }, () => ({ ...choice, tokens: tokensIn(text) }));
  });
  const promptTokens = prompts.reduce((sum, { tokens }) => sum + tokens, 0);
  const completionTokens = choices.reduce((sum, { tokens }) => sum + tokens, 0);
  const usage = options.usage ?? {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const head = { id: idOf('cmpl-', body), object: 'text_completion', created: CREATED_S, model: json.model };
  if (json.stream !== true) {
    const shown = choices.map(({ tokens: _, ...choice }, index) => ({ index, ...choice }));
    return { ...head, choices: shown, ...(usage ? { usage } : {}) };
  }
  const asked = isObject(json.stream_options) && json.stream_options.include_usage === true;
  const event = (parts: unknown[], reported: unknown) =>
    `data: ${JSON.stringify({ ...head, choices: parts, ...(asked ? { usage: reported } : {}) })}\n\n`;
  return [
    ...choices.flatMap(({ text, finish_reason }, index) => [
      ...cut(text, options.chunks).map((piece) =>
        event([{ index, text: piece, logprobs: null, finish_reason: null }], null),
      ),
      event([{ index, text: '', logprobs: null, finish_reason }], null),
    ]),
    ...(asked && usage ? [event([], usage)] : []),
    'data: [DONE]\n\n',
  ];
};

/** The prompts in the value of `prompt` or `input`, with the number of tokens of each. */
export function promptsOf(value: unknown): { text: string; tokens: number }[] {
  if (typeof value === 'string') return [{ text: value, tokens: tokensIn(value) }];
  if (!Array.isArray(value) || value.length === 0) return [{ text: '', tokens: 0 }];
  if (typeof value[0] === 'number') return [{ text: '', tokens: value.length }];
  return value.map((prompt: unknown) =>
    typeof prompt === 'string'
      ? { text: prompt, tokens: tokensIn(prompt) }
      : { text: '', tokens: Array.isArray(prompt) ? prompt.length : 0 },
  );
}
