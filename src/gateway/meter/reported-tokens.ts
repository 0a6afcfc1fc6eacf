import type { Usage } from '../../domain/ledger-entry.ts';
import { reportedCount } from './reported-count.ts';

/**
 * Tokens as OpenAI's image, speech and transcription answers report them: `input_tokens` (cached ones inside, where
 * `input_tokens_details.cached_tokens` says so) and `output_tokens`. Undefined where they are absent, negative or absurd.
 */
export function reportedTokens(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { input_tokens, output_tokens, input_tokens_details } = usage as Record<string, unknown>;
  const input = reportedCount(input_tokens);
  const output = reportedCount(output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const details = input_tokens_details as { cached_tokens?: unknown } | null | undefined;
  const cachedInput = Math.min(reportedCount(details?.cached_tokens) ?? 0, input);
  return { input: input - cachedInput, cachedInput, output };
}
