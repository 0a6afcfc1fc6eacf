import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Model } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { refuseUnpriced } from '../../metering/plan.ts';

/** Characters of a host with a port (RFC 9112 §3.2, RFC 3986 §3.2), without those of a user, path or query. */
const HOST = /^[\w.\-~%!$&'()*+,;=:[\]]*$/;

const ABSOLUTE = /^https?:\/\/([^/?#]+)((?:[/?#].*)?)$/i;

/**
 * Path and query of a request. Its target may be a full URL, which a server must accept (RFC 9112 §3.2.2); its host is
 * ignored like the Host header.
 */
export function originForm({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  if (url.charCodeAt(0) === 0x2f) return url;
  const [, authority, rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (authority === undefined || !HOST.test(authority)) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Matches a version of OpenAI's API, in a comma-separated list, that turns on subagents: `responses_multi_agent=v1`.
 */
const MULTI_AGENT = /(?:^|,)\s*responses_multi_agent\b/i;
const CHARGES = [
  { param: 'OpenAI-Beta', what: 'responses_multi_agent, because nothing limits its subagents' },
];

/**
 * Refuses request heads that Node's parser accepts but servers could read differently (RFC 9112 §3.2, §6.1;
 * specification section 4). Throws 400 `invalid_request`.
 */
export function checkHead(request: IncomingMessage): void {
  const { url = '', httpVersionMajor, httpVersionMinor, headers } = request;
  if (httpVersionMajor !== 1) throw faulty('Send the request as HTTP/1.1.');
  if (url.charCodeAt(0) !== 0x2f && url !== '*') {
    throw faulty('The request target must be a path. This gateway is not a forward proxy.');
  }
  if (url.includes('#')) throw faulty('The request target must not contain a fragment (#).');
  const coding = headers['transfer-encoding'];
  // Only chunked is decoded here; a server that decodes another transfer coding would read another body.
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    throw faulty('Send the body with Content-Length or with Transfer-Encoding: chunked.');
  }
  checkNames(request, httpVersionMinor);
}

/** Refuses repeated Host and Authorization headers: Node keeps the first, other servers the last. */
function checkNames({ rawHeaders, headers }: IncomingMessage, httpVersionMinor: number): void {
  let hosts = 0;
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0) || !HOST.test(headers.host ?? '')) {
    throw faulty('The request must have exactly one valid Host header.');
  }
  if (credentials > 1) throw faulty('The request has more than one Authorization header. Send one.');
}

/**
 * Throws 415 for a compressed body: the gateway checks bytes without decompressing them, and Content-Encoding does not
 * go upstream (specification section 4).
 */
export function checkEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || /^(identity)?$/i.test(encoding.trim())) return;
  throw new GatewayError(
    'unsupported_media_type',
    'Compressed request bodies are not supported. Send the body without Content-Encoding.',
  );
}

/** Throws 400 `unpriced_parameter` for a header that enables costs no hold can bound, unless the model is free. */
export function refuseBetas(headers: IncomingHttpHeaders, model: Model): void {
  const betas = headers['openai-beta'];
  if (betas !== undefined && MULTI_AGENT.test(String(betas))) refuseUnpriced({ charges: CHARGES }, model);
}

function faulty(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}
