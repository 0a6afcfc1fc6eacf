import type { Usage } from '../domain/ledger-entry.ts';
import { inputUsage } from './input-usage.ts';
import { asText, isObject } from './parts.ts';
import { reportedCount } from './reported-count.ts';
import { wordsOf } from './written-text.ts';

/**
 * Usage of a response as OpenAI documents it: `input_tokens` with `input_tokens_details.cached_tokens` inside,
 * `output_tokens` with reasoning inside. Undefined where it is absent (null in a response that failed or is not
 * finished), negative or absurd. Reported zeros stay zeros.
 */
export function responsesUsage(response: unknown): Usage | undefined {
  const usage = isObject(response) ? response.usage : undefined;
  if (!isObject(usage)) return undefined;
  const input = reportedCount(usage.input_tokens);
  const output = reportedCount(usage.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  return { ...inputUsage(input, usage.input_tokens_details), output };
}

/** What a whole response says: texts, refusals, reasoning, and what tools are called with. */
export function responsesWritten(response: unknown): string {
  return itemsOf(response)
    .map((item) => wordsOf(asText(item)))
    .join('');
}

/** Ids under which the provider keeps the response: its own, its items', and those of containers that ran its tools. */
export function responseResourceIds(response: unknown): string[] {
  // Nothing is kept of what was not to be stored.
  if (!isObject(response) || response.store === false) return [];
  const ids = [response.id];
  for (const item of itemsOf(response)) {
    ids.push(item.id, item.container_id);
    if (isObject(item.environment)) ids.push(item.environment.container_id);
  }
  return [...new Set(ids.filter((id): id is string => typeof id === 'string' && id !== ''))];
}

function itemsOf(response: unknown): Record<string, unknown>[] {
  const output = isObject(response) ? response.output : undefined;
  return Array.isArray(output) ? output.filter(isObject) : [];
}
