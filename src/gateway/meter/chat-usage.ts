import type { Usage } from '../../domain/ledger-entry.ts';

/** More tokens than any model reads or writes in one call; a report beyond it is no report. */
const ABSURD = 1_000_000_000;

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < ABSURD
    ? (value as number)
    : undefined;
}

/**
 * Usage of a chat answer or chunk as OpenAI documents it: `prompt_tokens` with `prompt_tokens_details.cached_tokens`
 * inside, `completion_tokens` with reasoning inside. Undefined where it is absent, negative or absurd: then the
 * charge is estimated (contract section 5). Reported zeros stay zeros.
 */
export function chatUsage(answer: unknown): Usage | undefined {
  const usage = (answer as { usage?: Record<string, unknown> } | null)?.usage;
  if (typeof usage !== 'object' || usage === null) return undefined;
  const prompt = count(usage.prompt_tokens);
  // Absent on answers that write nothing.
  const completion = count(usage.completion_tokens ?? 0);
  if (prompt === undefined || completion === undefined) return undefined;
  const details = usage.prompt_tokens_details as { cached_tokens?: unknown } | null | undefined;
  const cached = Math.min(count(details?.cached_tokens) ?? 0, prompt);
  return { input: prompt - cached, cachedInput: cached, output: completion };
}
