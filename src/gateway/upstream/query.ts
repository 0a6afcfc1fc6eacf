import type { Endpoint } from '../endpoints.ts';

/** Query parameters of a client that go upstream (specification section 4). Anthropic's SDKs send `?beta=true`. */
const PASSED: ReadonlySet<string> = new Set(['beta']);
/** Those of jobs page and choose: `?variant=thumbnail` of a video's content. */
const PASSED_ABOUT_JOBS: ReadonlySet<string> = new Set([...PASSED, 'limit', 'after', 'order', 'variant']);

/**
 * The query that goes upstream, without its question mark; '' for none. A list of what passes, because some providers
 * take from the query what the answer shows of itself (`fields`), or whose account is billed. Values are written anew:
 * some servers read `;` as `&`.
 */
export function upstreamQuery(url: string, { makesJob }: Pick<Endpoint, 'makesJob'>): string {
  const at = url.indexOf('?');
  if (at < 0) return '';
  const passed = makesJob ? PASSED_ABOUT_JOBS : PASSED;
  const parameters = [...new URLSearchParams(url.slice(at))].filter(([name]) => passed.has(name));
  return new URLSearchParams(parameters).toString();
}
