import type { WireFormat } from '../domain/catalog.ts';

/** What precedes the path of an endpoint when a base URL ends in the wrong place: `/v1/v1`, `/api/v1`, `/v1/`, or nothing. */
const MISPLACED_BASE = /^(?:\/(?:api|openai|anthropic|v\d+[a-z\d]*)?)*$/;
const ANTHROPIC_PATHS = /\/messages(?:\/.*)?$/;

/** Whether an endpoint's path after this prefix looks like the mistake of a base URL that ends in the wrong place. */
export function isMisplacedBase(prefix: string): boolean {
  return MISPLACED_BASE.test(prefix);
}

/** The wire format of errors at a path or route, with or without a query: that of the clients who ask there. */
export function errorFormat(url: string): WireFormat {
  if (url.startsWith('/v1/messages')) return 'anthropic';
  const [path = ''] = url.split('?', 1);
  const end = path.search(ANTHROPIC_PATHS);
  return end >= 0 && isMisplacedBase(path.slice(0, end)) ? 'anthropic' : 'openai';
}
