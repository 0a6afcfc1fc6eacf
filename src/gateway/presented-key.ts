import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';

/** Headers of a key besides `Authorization`: those of Anthropic's clients and of Azure's. */
const KEY_HEADERS = ['x-api-key', 'api-key'] as const;

/** A value with nothing around it, as almost all are. */
const PLAIN = /^(?!bearer$)[\w-]+$/i;
/**
 * What gets around a value that is copied or put together: white space, quotes, also those of Unicode (as Latin-1, in which
 * Node reads headers), and another "Bearer".
 */
const BEFORE = /^(?:[\s"'`\x80-\xff]|bearer(?=[\s"'`\x80-\xff]|$))+/i;
const BEHIND = /(?<![\s"'`\x80-\xff])[\s"'`\x80-\xff]+$/;
const BEARER = /^[\s"'`\x80-\xff]*bearer(?![\w-])/i;
/** Names of parameters in which clients send keys. */
const KEY_IN_QUERY = /[?&](?:x[-_])?(?:api[-_]?|access[-_]?)?(?:key|token|authorization)=/i;

/**
 * Reads the key from `Authorization: Bearer` (scheme in any case), else from `x-api-key`, else from `api-key`
 * (specification section 3, check 1). An empty value counts as none. Throws 401 `missing_api_key`.
 */
export function presentedKey({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): string {
  const key = credentialOf(headers);
  if (key) return key;
  const isOtherScheme = key === undefined;
  const where = KEY_IN_QUERY.test(url) ? ', not in the URL, where proxies log it' : '';
  throw new GatewayError(
    'missing_api_key',
    isOtherScheme
      ? 'The Authorization header must begin with "Bearer ": send "Authorization: Bearer <your key>".'
      : `The request has no API key. Send it in the header "Authorization: Bearer <your key>"${where}.`,
  );
}

/** Whether a request presents anything as a key. Else it may be one of a session. */
export function presentsKey(headers: IncomingHttpHeaders): boolean {
  return credentialOf(headers) !== '';
}

/** The first credential that is not empty; '' for none, undefined for an Authorization header of another scheme. */
function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const token = tokenOf(headers.authorization);
  if (token !== '') return token;
  for (const name of KEY_HEADERS) {
    const value = headers[name];
    const key = typeof value === 'string' ? bare(value) : '';
    if (key !== '') return key;
  }
  return '';
}

function tokenOf(authorization = ''): string | undefined {
  if (authorization.slice(0, 7).toLowerCase() === 'bearer ') return bare(authorization.slice(7));
  const value = bare(authorization);
  return value === '' || BEARER.test(authorization) ? value : undefined;
}

function bare(value: string): string {
  return PLAIN.test(value) ? value : value.replace(BEFORE, '').replace(BEHIND, '');
}
