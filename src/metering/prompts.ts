/**
 * The `prompt` of a completion or the `input` of an embedding, in OpenAI's four forms: a text, a list of texts, the
 * numbers of the tokens of one text, or a list of those.
 */
export type Prompts = unknown;

/** How many texts there are, each answered by itself; 1 where there is none or the form is unknown. */
export function countPrompts(prompts: Prompts): number {
  if (!Array.isArray(prompts) || typeof prompts[0] === 'number') return 1;
  return Math.max(1, prompts.length);
}

/** All texts, and the number of tokens that came as numbers. */
export function readPrompts(prompts: Prompts): { text: string; tokens: number } {
  if (typeof prompts === 'string') return { text: prompts, tokens: 0 };
  if (!Array.isArray(prompts)) return { text: '', tokens: 0 };
  const texts: string[] = [];
  let tokens = 0;
  for (const prompt of prompts) {
    if (typeof prompt === 'string') texts.push(prompt);
    else tokens += Array.isArray(prompt) ? prompt.length : 1;
  }
  return { text: texts.join('\n'), tokens };
}
