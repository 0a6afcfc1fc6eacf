import type { Usage } from '../domain/ledger-entry.ts';
import { inputUsage } from './input-usage.ts';
import { reportedCount } from './reported-count.ts';

/**
 * Tokens as OpenAI's image, speech and transcription answers report them: `input_tokens` (those read from or
 * written to a cache inside, where `input_tokens_details` says so) and `output_tokens`. Undefined where they are absent, negative or absurd.
 */
export function reportedTokens(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { input_tokens, output_tokens, input_tokens_details } = usage as Record<string, unknown>;
  const input = reportedCount(input_tokens);
  const output = reportedCount(output_tokens);
  if (input === undefined || output === undefined) return undefined;
  return { ...inputUsage(input, input_tokens_details), output };
}
