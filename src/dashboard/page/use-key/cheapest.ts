import type { ModelView } from '../../../api/models/model-view.ts';

/** Bounds of the test call: its message is far below so many tokens, and its answer is cut there. */
const INPUT_TOKENS = 50;
export const OUTPUT_TOKENS = 300;

export const CHAT = '/v1/chat/completions';
export const MESSAGES = '/v1/messages';
export const RESPONSES = '/v1/responses';

/** The models that write text at a path, the cheapest test call first. */
export function byTestPrice(models: readonly ModelView[], path: string): readonly ModelView[] {
  return models
    .filter((model) => writes(model) && model.endpoints.includes(path))
    .toSorted((one, other) => testPrice(one) - testPrice(other) || one.id.localeCompare(other.id));
}

/** Models of a free price say nothing of what they do but their names. */
const WRITES_NOTHING = /moderat|embed|rerank/i;

/** False for models of embeddings and moderation, whose answers cost nothing. */
function writes({ id, price }: ModelView): boolean {
  return price.output !== undefined || (Object.keys(price).length === 0 && !WRITES_NOTHING.test(id));
}

/** Most that the test call costs with a model, in credits. */
export function testPrice({ pricing }: ModelView): number {
  const of = (price: string | undefined) => Number(price ?? 0);
  return of(pricing.request) + of(pricing.prompt) * INPUT_TOKENS + of(pricing.completion) * OUTPUT_TOKENS;
}
