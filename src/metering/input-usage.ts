import type { Usage } from '../domain/ledger-entry.ts';
import { reportedCount } from './reported-count.ts';

/**
 * Input tokens of OpenAI's format by price: `cached_tokens` and `cache_write_tokens` are details of the whole, inside it.
 */
export function inputUsage(input: number, details: unknown): Usage {
  const { cached_tokens: read, cache_write_tokens: written } = (details ?? {}) as Record<string, unknown>;
  const cachedInput = Math.min(reportedCount(read) ?? 0, input);
  const cacheWrite = Math.min(reportedCount(written) ?? 0, input - cachedInput);
  return {
    input: input - cachedInput - cacheWrite,
    cachedInput,
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
  };
}
