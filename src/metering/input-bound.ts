import type { Bounds } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { mediaBound, partsOf } from './parts.ts';

/** Tokens that a template adds around a turn or tool, and around the whole; vendors document 3 to 10. */
const TURN_OVERHEAD = 16;
const TOOL_OVERHEAD = 64;
const REQUEST_OVERHEAD = 64;

/**
 * An upper bound of the input tokens of a request whose conversation is `turns`. Why it is one: see chat-hold.ts, whose
 * argument holds for every JSON body. `readByProvider`: passes of the model beyond the first, in which it reads what
 * the provider's own tools found; each can fill the context.
 */
export function inputBound(
  body: MeteredBody,
  turns: unknown,
  bounds: Bounds,
  readByProvider: number,
): number {
  const { tools } = body.value;
  const turnCount = Array.isArray(turns) ? turns.length : 1;
  const said =
    body.textBytes +
    REQUEST_OVERHEAD +
    turnCount * TURN_OVERHEAD +
    (Array.isArray(tools) ? tools.length * TOOL_OVERHEAD : 0) +
    mediaBound(partsOf(turns), bounds.imageTokens, body.longTexts);
  return Math.max(0, said) + (bounds.storedTokens ?? 0) + readByProvider * bounds.contextTokens;
}

/**
 * How often a model may turn to the provider's own tools within one call, where the request does not say: ten, which
 * is what Anthropic documents as the limit of its loop.
 */
export const TOOL_ROUNDS = 10;
