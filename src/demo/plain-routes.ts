import { createHash } from 'node:crypto';
import { promptsOf } from './completions-route.ts';
import { messageTokens } from './messages-route.ts';
import type { DemoRoute } from './route.ts';
import { idOf } from './say.ts';

/** Numbers in an embedding, unless `dimensions` says otherwise. */
const DIMENSIONS = 8;
/** Texts with this word are flagged, as violent. */
const FLAGGED = /\bkill\b/i;

/**
 * `POST /v1/embeddings`: numbers from -1 to 1 that follow from the text, as floats or as base64 of 32-bit floats, which
 * is what OpenAI's own client asks for.
 */
export const embeddingsRoute: DemoRoute = (json, _body, options) => {
  const inputs = promptsOf(json.input);
  const length = typeof json.dimensions === 'number' ? Math.min(json.dimensions, 4_096) : DIMENSIONS;
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  const usage = options.usage ?? { prompt_tokens: tokens, total_tokens: tokens };
  const data = inputs.map(({ text }, index) => {
    const hash = createHash('sha256').update(text).digest();
    const numbers = Float32Array.from({ length }, (_, at) => ((hash[at % hash.length] ?? 0) - 127.5) / 127.5);
    const embedding =
      json.encoding_format === 'base64' ? Buffer.from(numbers.buffer).toString('base64') : [...numbers];
    return { object: 'embedding', index, embedding };
  });
  return { object: 'list', data, model: json.model, ...(usage ? { usage } : {}) };
};

/** `POST /v1/moderations`: only the word "kill" is flagged. */
export const moderationsRoute: DemoRoute = (json, body) => ({
  id: idOf('modr-', body),
  model: json.model,
  results: promptsOf(json.input).map(({ text }) => {
    const violence = FLAGGED.test(text);
    return { flagged: violence, categories: { violence }, category_scores: { violence: violence ? 1 : 0 } };
  }),
});

/** `POST /v1/messages/count_tokens`. */
export const countTokensRoute: DemoRoute = (json) => {
  const tokens = messageTokens(json);
  return tokens === undefined ? undefined : { input_tokens: tokens };
};
