import type { Upstream } from '../../domain/catalog.ts';
import type { Route } from './connector.ts';

/** Start of every endpoint's path. */
const VERSION = '/v1';

/** An address at an upstream. */
export interface Address extends Route {
  /** `https://host:port` */
  readonly origin: string;
  readonly path: string;
  /** Without the question mark; '' for none. */
  readonly query: string;
}

/** The `https://host:port` of an upstream's address; the rest is the path prefix. */
function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0 ? url : url.slice(0, end);
}

/**
 * Builds the upstream address of a call. `path`: the gateway's own, which begins with `/v1`. `endpoint`: the endpoint's
 * path, if `path` continues after it.
 */
export function addressOf(
  { url, path: prefix, paths, ca, proxy }: Pick<Upstream, 'url' | 'path' | 'paths' | keyof Route>,
  path: string,
  upstreamModel: string,
  endpoint = path,
): Address {
  const origin = originOf(url);
  const base = url.slice(origin.length);
  const own = paths?.[endpoint] ?? prefix;
  if (own === undefined) return { origin, ca, proxy, path: base + path, query: '' };
  const [stem = '', query = ''] = own.split('?', 2);
  const named = stem.replace('{model}', () => encodeURIComponent(upstreamModel));
  return { origin, ca, proxy, path: base + named + path.slice(VERSION.length), query };
}
