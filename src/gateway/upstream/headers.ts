import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Upstream } from '../../domain/catalog.ts';
import { CLIENT_HEADER_FAMILIES, CLIENT_HEADER_NAMES } from '../../domain/clients.ts';
import type { Endpoint } from '../endpoints.ts';
import { withoutCredential } from './credential.ts';

/**
 * Client headers that go upstream, besides CLIENT_HEADER_FAMILIES and `passHeaders` (specification section 4). An
 * allowlist, because a gateway behind the upstream's address would obey headers that nobody can list: where to send the
 * call, with whose credential, under which path.
 */
const PASSED: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'user-agent',
  'traceparent',
  'tracestate',
  ...CLIENT_HEADER_NAMES,
]);

const IDEMPOTENCY_KEY = 'idempotency-key';

/**
 * Response headers that reach the client, besides PASSED_FAMILIES and `passResponseHeaders` (specification section 4). An
 * allowlist, because nobody can list the headers by which a provider could steer the browser, a cache or the proxy in
 * front, or show the client the operator's account.
 */
const PASSED_BACK: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-range',
  'accept-ranges',
  'retry-after',
  'request-id',
  'cf-ray',
]);
/** Those of files. */
const PASSED_WITH_BYTES: ReadonlySet<string> = new Set(['content-disposition', 'etag', 'last-modified']);
const PASSED_FAMILIES = /^(?:openai|anthropic)-(?!rate-?limit|organization|project)/;
const REQUEST_ID = 'x-request-id';
/** The provider's id of the call; the gateway's has its name. */
const UPSTREAM_REQUEST_ID = 'x-upstream-request-id';

/** The client request behind an upstream call. */
export interface ClientRequest {
  readonly headers: IncomingHttpHeaders;
  readonly accountId: number;
  /** Content type as which the gateway read the body; undefined: no body. */
  readonly contentType: string | undefined;
}

/**
 * Headers of a request to an upstream, name and value in turn: allowed client headers, then the credential. `client` is
 * undefined if the gateway itself asks.
 */
export function upstreamHeaders(client: ClientRequest | undefined, upstream: Upstream): string[] {
  // Usage is read from the answer on its way, so it must not be compressed.
  const out = ['accept-encoding', 'identity'];
  if (client) addClientHeaders(out, client, upstream);
  const { apiKey, auth = upstream.format === 'anthropic' ? 'x-api-key' : 'bearer' } = upstream;
  if (apiKey === '') return out;
  if (auth === 'x-api-key' || auth === 'api-key') out.push(auth, apiKey);
  else out.push('authorization', `Bearer ${apiKey}`);
  return out;
}

function addClientHeaders(
  out: string[],
  { headers, accountId, contentType }: ClientRequest,
  { passHeaders }: Upstream,
): void {
  if (contentType !== undefined) out.push('content-type', contentType);
  const listed = connectionNames(headers.connection);
  for (const name in headers) {
    const isPassed = PASSED.has(name) || isOfFamily(name) || passHeaders?.includes(name);
    const isHashed = !isPassed && name === IDEMPOTENCY_KEY;
    if (!(isPassed || isHashed) || listed?.includes(name)) continue;
    const value = headers[name] as string;
    out.push(name, isHashed ? idempotencyKey(accountId, value) : value);
  }
}

/** 0.1 µs for all headers of a call: most names do not begin with `x-`. */
function isOfFamily(name: string): boolean {
  if (name.charCodeAt(0) !== 0x78 || name.charCodeAt(1) !== 0x2d) return false;
  return CLIENT_HEADER_FAMILIES.some((family) => name.startsWith(family));
}

/**
 * The idempotency key that the provider gets. All accounts share one credential there, so two accounts with the same
 * key would otherwise get one answer.
 */
function idempotencyKey(accountId: number, value: string): string {
  return hash('sha256', `${accountId}:${value}`);
}

/** Headers that the gateway sets for an answer. */
interface OwnHeaders {
  /** Those set on the reply. */
  readonly reply: Readonly<Record<string, number | string | string[] | undefined>>;
  /** Those of this answer. */
  readonly own?: Readonly<Record<string, number | string>>;
  /** Whether the answer is a file, such as sound or a video. */
  readonly isBytes?: boolean;
}

/**
 * Headers of the client's answer, name and value in turn: the upstream's that pass, then the gateway's. None of the
 * upstream's has a name that the reply has.
 */
export function clientHeaders(
  answered: Record<string, string | string[] | undefined>,
  upstream: Upstream,
  { reply, own = {}, isBytes = false }: OwnHeaders,
): string[] {
  const out: string[] = [];
  const listed = connectionNames(answered.connection);
  for (const name in answered) {
    const isPassed =
      PASSED_BACK.has(name) ||
      (isBytes && PASSED_WITH_BYTES.has(name)) ||
      PASSED_FAMILIES.test(name) ||
      upstream.passResponseHeaders?.includes(name);
    const as = isPassed ? name : name === REQUEST_ID ? UPSTREAM_REQUEST_ID : undefined;
    if (as === undefined || reply[as] !== undefined || listed?.includes(name)) continue;
    add(out, as, shown(answered[name], upstream));
  }
  for (const name in reply) add(out, name, reply[name]);
  for (const name in own) out.push(name, String(own[name]));
  return out;
}

/** Header that names the origin of an answer of 400 and above; other answers have none (specification section 14). */
export function sourceOf(status: number): Readonly<Record<string, string>> {
  return status < 400 ? {} : { 'x-tollgate-source': 'provider' };
}

/** A header's value without the gateway's credential; most are too short to contain it. */
function shown(value: string | string[] | undefined, upstream: Upstream): string | string[] | undefined {
  if (typeof value === 'string') {
    return value.length < upstream.apiKey.length ? value : withoutCredential(value, upstream);
  }
  return value?.map((each) => withoutCredential(each, upstream));
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

/** Client query parameters that go upstream (specification section 4). Anthropic's SDKs send `?beta=true`. */
const PASSED_QUERY: ReadonlySet<string> = new Set(['beta']);
/** Those of jobs paginate and select: `?variant=thumbnail` of a video's content. */
const PASSED_JOB_QUERY: ReadonlySet<string> = new Set([
  ...PASSED_QUERY,
  'limit',
  'after',
  'order',
  'variant',
]);

/**
 * The query that goes upstream, without its question mark; '' for none. An allowlist, because some providers read from
 * the query what the answer shows (`fields`) or whose account is billed. Values are encoded again, because some servers
 * read `;` as `&`.
 */
export function upstreamQuery(url: string, { makesJob }: Pick<Endpoint, 'makesJob'>): string {
  const at = url.indexOf('?');
  if (at < 0) return '';
  const passed = makesJob ? PASSED_JOB_QUERY : PASSED_QUERY;
  const parameters = [...new URLSearchParams(url.slice(at))].filter(([name]) => passed.has(name));
  return new URLSearchParams(parameters).toString();
}
