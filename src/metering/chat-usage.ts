import type { Usage } from '../domain/ledger-entry.ts';
import { inputUsage } from './input-usage.ts';
import { isObject } from './parts.ts';
import { reportedCount } from './reported-count.ts';

/**
 * Usage of a chat answer or chunk as OpenAI documents it: `prompt_tokens` with `prompt_tokens_details.cached_tokens`
 * inside, `completion_tokens` with reasoning inside. Undefined where it is absent, negative or absurd: then the
 * charge is estimated (contract section 5). Reported zeros stay zeros.
 */
export function chatUsage(answer: unknown): Usage | undefined {
  const usage = (answer as { usage?: Record<string, unknown> } | null)?.usage;
  if (typeof usage !== 'object' || usage === null) return undefined;
  const prompt = reportedCount(usage.prompt_tokens);
  const completion = reportedCount(usage.completion_tokens);
  if (prompt === undefined || completion === undefined) return undefined;
  return { ...inputUsage(prompt, usage.prompt_tokens_details), output: completion };
}

/** Ids of sound that the provider keeps of a chat answer, or of the chunk of one that names it. */
export function chatResourceIds(answer: unknown): string[] {
  const choices = isObject(answer) ? answer.choices : undefined;
  if (!Array.isArray(choices)) return [];
  const ids: string[] = [];
  for (const choice of choices) {
    const said: unknown = choice?.message ?? choice?.delta;
    const audio = isObject(said) ? said.audio : undefined;
    if (isObject(audio) && typeof audio.id === 'string' && audio.id !== '') ids.push(audio.id);
  }
  return ids;
}
