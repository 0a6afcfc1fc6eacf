import type { Usage } from '../domain/units.ts';
import { isObject } from './json/value.ts';
import type { Meter, RequestFacts } from './meter.ts';
import { asksLongCache, openaiTerms } from './terms.ts';
import { countIn, type Reading, reportedUsage, wholeUsage, withReported } from './usage-report.ts';

/** What reading a report takes of its request. */
export interface PricedRequest extends Pick<RequestFacts, 'hints'> {
  readonly model: Pick<RequestFacts['model'], 'price'>;
}

export function readingOf(body: PricedRequest, wrote: () => boolean): Reading {
  return { price: body.model.price, asksLongCache: () => asksLongCache(body), wrote };
}

/**
 * Reads whole answers of OpenAI's text formats. `outputTokens`: estimated tokens of the output text. `withFees` adds
 * what has a fee to a usage.
 */
export function openaiAnswers(
  outputTokens: Meter['outputTokens'],
  withFees = (usage: Usage, _body: RequestFacts, _answer: unknown) => usage,
) {
  const reported = (answer: unknown, body: RequestFacts) =>
    reportedUsage(
      answer,
      readingOf(body, () => outputTokens(answer) > 0),
    );
  return {
    usage(answer, body) {
      const usage = wholeUsage(reported(answer, body));
      return usage && withFees(usage, body, answer);
    },
    mergeReported: (estimate, answer, body) =>
      withFees(withReported(estimate, reported(answer, body)), body, answer),
    terms: (answer, { model }) => openaiTerms(answer, model.price),
    outputTokens,
    estimate: (tokens) => tokens,
  } satisfies Partial<Meter>;
}

/** Adds `more` to `sum` in place, and returns `sum`. */
export function addUsage(sum: Usage, more: Usage): Usage {
  for (const name of Object.keys(more) as (keyof Usage)[]) {
    if (more[name] !== undefined) sum[name] = (sum[name] ?? 0) + more[name];
  }
  return sum;
}

/** Searches of a chat call: one with `web_search_options` (specification section 10). */
export function requestedSearches({ scalars }: Pick<RequestFacts, 'scalars'>): number {
  return isObject(scalars.web_search_options) ? 1 : 0;
}

/** Adds searches to a usage, if any. */
export function withSearches(usage: Usage, webSearches = 0): Usage {
  return webSearches > 0 ? { ...usage, webSearches } : usage;
}

/**
 * `withSearches` for a response. The answer doesn't report which tool searched, so all searches count as previews if
 * the request has a preview tool, otherwise none.
 */
export function withSearchesOf(
  { hints }: Pick<RequestFacts, 'hints'>,
  usage: Usage,
  searches: number,
): Usage {
  if (searches === 0) return usage;
  return hints?.searchesAsPreview
    ? { ...usage, webSearchPreviews: searches }
    : { ...usage, webSearches: searches };
}

/** Billed searches that a response reports (`tool_usage.web_search.num_requests`); undefined if absent. */
export function reportedSearches(response: unknown): number | undefined {
  const reported = isObject(response) ? response.tool_usage : undefined;
  const searches = isObject(reported) ? reported.web_search : undefined;
  return isObject(searches) ? countIn(searches.num_requests) : undefined;
}

/**
 * Whether an output item is a web search: a `web_search_call` that neither opens a page nor finds words in one. A call
 * without an action counts.
 */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  return !isObject(item.action) || item.action.type === undefined || item.action.type === 'search';
}
