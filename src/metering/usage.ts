import { outputTokens, type Usage } from '../domain/units.ts';
import { isObject } from './json/value.ts';
import type { MeteredBody } from './meter.ts';

/**
 * Parts that the readers of reported usage share (openai-usage.ts, messages-usage.ts). Rules of all readers
 * (specification section 5): a report without the counts that its format requires, or with a count that is negative, no
 * whole number or absurd, is no report: the reader returns undefined, and the charge is estimated. Reported zeros stay
 * zeros. Details of a count (cached tokens, sound, pictures) that are not to be believed are none, and those that
 * exceed their total are cut down to it. Dimensions that only details have appear if they are above 0.
 */

/** An object from the network: each member may be missing or of any type. */
export type Untrusted<T> = { readonly [Member in keyof T]?: unknown };

/** More tokens than any model reads or writes in one call. */
const ABSURD_TOKENS = 1_000_000_000;
/** 115 days: longer than any audio that one call can upload. */
const ABSURD_SECONDS = 10_000_000;

/** An object from the network, none of whose members is checked yet; undefined for anything that is no object. */
export function untrusted<T>(value: unknown): Untrusted<T> | undefined {
  return isObject(value) ? (value as Untrusted<T>) : undefined;
}

/** The `usage` member of an answer or a chunk; undefined if the answer has none or is no object. */
export function reportedBy(answer: unknown): unknown {
  return untrusted<{ usage: unknown }>(answer)?.usage;
}

/** A count of tokens or searches; undefined if it is absent, negative, no whole number or absurd. */
export function countIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < ABSURD_TOKENS
    ? (value as number)
    : undefined;
}

/** Seconds of audio as a number, or as text, which some providers write. 0 to ABSURD_SECONDS, fractions included. */
export function reportedSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= ABSURD_SECONDS ? seconds : undefined;
}

/** Whether a report counts any output. */
export function hasOutput(usage: Usage = {}): boolean {
  return outputTokens(usage) > 0;
}

/** Adds the counts of `more` to `sum`, and returns `sum`. */
export function addUsage(sum: Usage, more: Usage): Usage {
  for (const name of Object.keys(more) as (keyof Usage)[]) {
    if (more[name] !== undefined) sum[name] = (sum[name] ?? 0) + more[name];
  }
  return sum;
}

/**
 * The usage of a stream that ended early: the report so far replaces the estimate. Of the output the larger
 * counts, because the report may be from long before the end (Anthropic's first event reports a token or so).
 */
export function mergeReported(estimate: Usage, reported: Usage | undefined): Usage {
  if (!reported) return estimate;
  const output = Math.max(estimate.output ?? 0, reported.output ?? 0);
  return { ...estimate, ...reported, output };
}

/** Searches of a chat call: one if the request has `web_search_options` (specification section 10). */
export function requestedSearches({ value }: MeteredBody): number {
  return isObject(value.web_search_options) ? 1 : 0;
}

/** A usage with its searches, if there were any. */
export function withSearches(usage: Usage, webSearches = 0): Usage {
  return webSearches > 0 ? { ...usage, webSearches } : usage;
}

/**
 * As `withSearches`, for a response: an answer does not say which tool searched, so all are previews if the request has such
 * a tool, and else none.
 */
export function withSearchesOf({ hints }: Pick<MeteredBody, 'hints'>, usage: Usage, searches: number): Usage {
  if (searches === 0) return usage;
  return hints?.searchesAsPreview
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
 * True if an item of a response's output is a web search: a `web_search_call` that neither opens a page nor looks
 * for words in one. One without an action counts as a search.
 */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  return !isObject(item.action) || item.action.type === undefined || item.action.type === 'search';
}
