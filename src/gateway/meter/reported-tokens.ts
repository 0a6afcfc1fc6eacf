import type { Usage } from '../../domain/ledger-entry.ts';

/** More tokens than any model reads or writes in one call; a report beyond it is no report. */
const ABSURD = 1_000_000_000;

/**
 * Tokens as OpenAI's image, speech and transcription answers report them: `input_tokens` (cached ones inside, where
 * `input_tokens_details.cached_tokens` says so) and `output_tokens`. Undefined where they are absent, negative or absurd.
 */
export function reportedTokens(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { input_tokens, output_tokens, input_tokens_details } = usage as Record<string, unknown>;
  const input = count(input_tokens);
  const output = count(output_tokens ?? 0);
  if (input === undefined || output === undefined) return undefined;
  const details = input_tokens_details as { cached_tokens?: unknown } | null | undefined;
  const cachedInput = Math.min(count(details?.cached_tokens) ?? 0, input);
  return { input: input - cachedInput, cachedInput, output };
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < ABSURD
    ? (value as number)
    : undefined;
}
