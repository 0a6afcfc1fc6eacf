import { outputTokens, type Usage } from '../domain/units.ts';
import { isObject } from './json/value.ts';
import type { MeteredBody } from './meter.ts';

/**
 * Parts shared by the readers of reported usage (openai-usage.ts, messages-usage.ts). Rules of all readers
 * (specification section 5): a report is rejected if a count that its format requires is absent, negative, fractional
 * or absurd; the reader then returns undefined, and the charge is estimated. Reported zeros stay zeros. Invalid details
 * of a count (cached tokens, audio, images) are ignored, and details above their total are cut to it. Dimensions found
 * only in details appear if they are above 0.
 */

/** A network object: any member may be missing or of any type. */
export type Untrusted<T> = { readonly [Member in keyof T]?: unknown };

/** More tokens than any model reads or writes in one call. */
const ABSURD_TOKENS = 1_000_000_000;
/** 115 days: longer than any audio that one call can upload. */
const ABSURD_SECONDS = 10_000_000;

/** Views a network object with unchecked members; undefined if not an object. */
export function untrusted<T>(value: unknown): Untrusted<T> | undefined {
  return isObject(value) ? (value as Untrusted<T>) : undefined;
}

/** `usage` of an answer or chunk; undefined if absent. */
export function reportedBy(answer: unknown): unknown {
  return untrusted<{ usage: unknown }>(answer)?.usage;
}

/** A count of tokens or searches; undefined if absent, negative, fractional or absurd. */
export function countIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < ABSURD_TOKENS
    ? (value as number)
    : undefined;
}

/** Seconds of audio, 0 to ABSURD_SECONDS, fractions included. Some providers send text. */
export function reportedSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= ABSURD_SECONDS ? seconds : undefined;
}

/** Whether a report counts any output. */
export function hasOutput(usage: Usage = {}): boolean {
  return outputTokens(usage) > 0;
}

/** Adds `more` to `sum` in place, and returns `sum`. */
export function addUsage(sum: Usage, more: Usage): Usage {
  for (const name of Object.keys(more) as (keyof Usage)[]) {
    if (more[name] !== undefined) sum[name] = (sum[name] ?? 0) + more[name];
  }
  return sum;
}

/**
 * Usage of a stream that ended early: the report so far replaces the estimate. The larger output counts, because the
 * report may be from long before the end: Anthropic's first event reports a token or so.
 */
export function mergeReported(estimate: Usage, reported: Usage | undefined): Usage {
  if (!reported) return estimate;
  const output = Math.max(estimate.output ?? 0, reported.output ?? 0);
  return { ...estimate, ...reported, output };
}

/** Searches of a chat call: one with `web_search_options` (specification section 10). */
export function requestedSearches({ value }: MeteredBody): number {
  return isObject(value.web_search_options) ? 1 : 0;
}

/** Adds searches to a usage, if any. */
export function withSearches(usage: Usage, webSearches = 0): Usage {
  return webSearches > 0 ? { ...usage, webSearches } : usage;
}

/**
 * `withSearches` for a response. The answer doesn't report which tool searched, so all searches count as previews if
 * the request has a preview tool, otherwise none.
 */
export function withSearchesOf({ hints }: Pick<MeteredBody, 'hints'>, usage: Usage, searches: number): Usage {
  if (searches === 0) return usage;
  return hints?.searchesAsPreview
    ? { ...usage, webSearchPreviews: searches }
    : { ...usage, webSearches: searches };
}

interface ToolUsage {
  /** Billed searches. */
  readonly web_search: { readonly num_requests: number };
}

/** Billed searches that a response reports; undefined if absent. */
export function reportedSearches(response: unknown): number | undefined {
  const reported = untrusted<{ tool_usage: ToolUsage }>(response)?.tool_usage;
  const searches = untrusted<ToolUsage>(reported)?.web_search;
  return countIn(untrusted<ToolUsage['web_search']>(searches)?.num_requests);
}

/**
 * Whether an output item is a web search: a `web_search_call` that neither opens a page nor finds words in one. A call
 * without an action counts.
 */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  return !isObject(item.action) || item.action.type === undefined || item.action.type === 'search';
}
