import type { Usage } from '../domain/usage.ts';
import { isObject } from './json-value.ts';
import type { MeteredBody } from './metered-body.ts';

/** Searches of a chat call: one where the request has `web_search_options` (specification section 10). */
export function searchesAsked({ value }: MeteredBody): number {
  return isObject(value.web_search_options) ? 1 : 0;
}

/** A usage with its searches, where there were any. */
export function withSearches(usage: Usage, webSearches: number): Usage {
  return webSearches > 0 ? { ...usage, webSearches } : usage;
}

/**
 * True where an item of a response's output is a web search: a `web_search_call` that neither opens a page nor looks
 * for words in one. One that does not say what it did counts as a search.
 */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  return !isObject(item.action) || item.action.type === undefined || item.action.type === 'search';
}
