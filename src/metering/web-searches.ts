import type { Usage } from '../domain/units.ts';
import { isObject } from './json-value.ts';
import type { MeteredBody } from './metered-body.ts';
import { countIn, untrusted } from './usage.ts';

/** Searches of a chat call: one where the request has `web_search_options` (specification section 10). */
export function searchesAsked({ value }: MeteredBody): number {
  return isObject(value.web_search_options) ? 1 : 0;
}

/** A usage with its searches, where there were any. */
export function withSearches(usage: Usage, webSearches: number): Usage {
  return webSearches > 0 ? { ...usage, webSearches } : usage;
}

/**
 * As `withSearches`, for a response: an answer does not say which tool searched, so all are previews where the request has such
 * a tool, and else none.
 */
export function withSearchesOf({ said }: Pick<MeteredBody, 'said'>, usage: Usage, searches: number): Usage {
  if (searches === 0) return usage;
  return said?.searchesAsPreview
    ? { ...usage, webSearchPreviews: searches }
    : { ...usage, webSearches: searches };
}

/** `tool_usage` of a response. */
interface ToolUsage {
  /** Searches that are billed. */
  readonly web_search: { readonly num_requests: number };
}

/** Searches that a response itself reports as billed; undefined: it does not. */
export function reportedSearches(response: unknown): number | undefined {
  const reported = untrusted<{ tool_usage: ToolUsage }>(response)?.tool_usage;
  const searches = untrusted<ToolUsage>(reported)?.web_search;
  return countIn(untrusted<ToolUsage['web_search']>(searches)?.num_requests);
}

/**
 * True where an item of a response's output is a web search: a `web_search_call` that neither opens a page nor looks
 * for words in one. One that does not say what it did counts as a search.
 */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  return !isObject(item.action) || item.action.type === undefined || item.action.type === 'search';
}
