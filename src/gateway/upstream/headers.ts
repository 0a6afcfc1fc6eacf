import type { IncomingHttpHeaders } from 'node:http';
import type { Upstream } from '../../domain/catalog.ts';

/**
 * Request headers that never reach an upstream (specification section 4): hop-by-hop (RFC 9110 §7.6.1), the client's
 * credentials, cookies and address, and those that the transport sets by itself.
 */
const DROPPED_FROM_REQUEST: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'authorization',
  'x-api-key',
  'api-key',
  'cookie',
  'cookie2',
  'forwarded',
  'forwarded-for',
  'x-forwarded',
  'x-original-forwarded-for',
  'via',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'origin',
  'referer',
  'host',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'x-goog-api-key',
]);

/**
 * Request headers that select an account, project or user profile at the provider: `openai-project`,
 * `anthropic-workspace-id`, `anthropic-user-profile-id`, `x-goog-user-project`, `chatgpt-account-id` and the like.
 */
const PICKS_AN_ACCOUNT = /-(?:organization|project|workspace|account|tenant|user-profile)(?:-id)?$/;

/**
 * Response headers that never reach the client: hop-by-hop, cookies, and those about the provider's account or edge.
 */
const DROPPED_FROM_RESPONSE: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'set-cookie2',
  'server',
  'location',
  'alt-svc',
  'via',
  'www-authenticate',
  'x-request-id',
  'date',
  'strict-transport-security',
  'openai-organization',
  'openai-project',
  'anthropic-organization-id',
  'content-length',
  'x-tollgate-charge',
]);

/** Matches response headers about the provider's rate limits of the operator's account (specification section 4). */
const RATE_LIMIT = /^(?:x-|anthropic-)?rate-?limit/;

/**
 * Headers of a request to an upstream, name and value in turn: the client's less those that are dropped, then the
 * credential.
 */
export function upstreamHeaders(headers: IncomingHttpHeaders, upstream: Upstream): string[] {
  const listed = connectionNames(headers.connection);
  // The answer must not be compressed, because usage is read from it on the way.
  const out = ['accept-encoding', 'identity'];
  for (const name in headers) {
    if (DROPPED_FROM_REQUEST.has(name) || name.startsWith('x-forwarded-') || listed?.includes(name)) continue;
    if (PICKS_AN_ACCOUNT.test(name)) continue;
    const value = headers[name];
    if (typeof value === 'string') out.push(name, value);
    else if (value) for (const each of value) out.push(name, each);
  }
  if (upstream.apiKey === '') return out;
  if (upstream.format === 'anthropic') out.push('x-api-key', upstream.apiKey);
  else out.push('authorization', `Bearer ${upstream.apiKey}`);
  return out;
}

/**
 * Headers of the client's answer, name and value in turn: the upstream's less DROPPED_FROM_RESPONSE, then those set on
 * the reply, which replace the upstream's of their names, then `own`, whose names must be in DROPPED_FROM_RESPONSE.
 */
export function clientHeaders(
  upstream: Record<string, string | string[] | undefined>,
  reply: Readonly<Record<string, number | string | string[] | undefined>>,
  own: Readonly<Record<string, number | string>> = {},
): string[] {
  const out: string[] = [];
  const listed = connectionNames(upstream.connection);
  for (const name in upstream) {
    const value = upstream[name];
    if (DROPPED_FROM_RESPONSE.has(name) || name.startsWith('access-control-') || RATE_LIMIT.test(name))
      continue;
    if (reply[name] === undefined && !listed?.includes(name)) add(out, name, value);
  }
  for (const name in reply) add(out, name, reply[name]);
  for (const name in own) out.push(name, String(own[name]));
  return out;
}

function add(out: string[], name: string, value: number | string | string[] | undefined): void {
  if (typeof value === 'string') out.push(name, value);
  else if (typeof value === 'number') out.push(name, String(value));
  else if (value) for (const each of value) out.push(name, each);
}

function connectionNames(value: string | string[] | undefined): string[] | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return String(value)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}
