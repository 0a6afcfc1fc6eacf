import { invalidField } from '../domain/errors.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import { holdFor } from '../domain/price.ts';
import { inputBound, TOOL_ROUNDS } from './input-bound.ts';
import type { CountTokens } from './long-texts.ts';
import type { Bounds } from './meter.ts';
import { countOf, type MeteredBody } from './metered-body.ts';
import { asText, isObject, partsOf, readable } from './parts.ts';

/** Tools that the client runs; all others run at the provider, and what they find is read as input. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'local_shell',
  'apply_patch',
  'computer_use_preview',
  'computer',
]);
const TURN_TOKENS = 4;

/**
 * A response that is made in the background ends after its call: nobody would be there to charge it. An id that is no
 * string could not be judged.
 */
export function checkResponse(body: MeteredBody): void {
  const previous = body.value.previous_response_id ?? null;
  if (previous !== null && typeof previous !== 'string')
    throw invalidField('previous_response_id', 'previous_response_id must be a string or null.');
  if ((body.value.background ?? false) !== false) {
    throw invalidField(
      'background',
      'background is not served here, because the answer to this call would not carry the usage. Leave it out.',
    );
  }
}

/** An upper bound of what a response can cost. */
export function responsesHold(body: MeteredBody, bounds: Bounds) {
  const output = countOf(body, 'max_output_tokens') ?? body.model.maxOutputTokens;
  const rounds = toolsOf(body).some(({ type }) => !CLIENT_TOOLS.has(type))
    ? (countOf(body, 'max_tool_calls') ?? TOOL_ROUNDS)
    : 0;
  return holdFor(body.model.price, { input: inputBound(body, body.value.input, bounds, rounds), output });
}

export async function estimateResponse(
  body: MeteredBody,
  written: string,
  count: CountTokens,
  storedTokens: number,
): Promise<Usage> {
  const { input, instructions, tools } = body.value;
  const { text, mediaTokens } = readable(partsOf(input));
  const said = [typeof input === 'string' ? input : text, asText(instructions), asText(tools)];
  const [inputTokens, output] = await Promise.all([count(said.join('\n')), count(written)]);
  const turns = Array.isArray(input) ? input.length : 1;
  return { input: inputTokens + turns * TURN_TOKENS + mediaTokens + storedTokens, output };
}

function toolsOf(body: MeteredBody): Record<string, unknown>[] {
  const { tools } = body.value;
  return Array.isArray(tools) ? tools.filter(isObject) : [];
}
