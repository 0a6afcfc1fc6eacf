import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../domain/errors.ts';

/**
 * The key that a request presents: `Authorization: Bearer` (scheme in any case), else `x-api-key`, for Anthropic
 * clients; where both are sent, `Authorization` counts (specification section 3, check 1). Throws 401
 * `missing_api_key`.
 */
export function presentedKey(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization !== undefined) {
    // Sliced, not matched by a pattern, because this runs on every request.
    const scheme = authorization.slice(0, 7).toLowerCase();
    const value = scheme === 'bearer ' ? authorization.slice(7).trim() : '';
    if (value !== '') return value;
  } else {
    const value = headers['x-api-key'];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  throw new GatewayError(
    'missing_api_key',
    'The request has no API key. Send it in the header "Authorization: Bearer <your key>".',
  );
}

/**
 * Throws 400 `invalid_request` where the query of an address carries a key, whether or not the headers carry one too:
 * the query of a model call goes on to the upstream, and proxies log addresses (specification section 3, check 1: never
 * a query parameter).
 */
export function refuseKeyIn(url: string, keyPrefix: string): void {
  const query = url.indexOf('?');
  if (query < 0) return;
  const text = url.slice(query);
  if (!text.includes(keyPrefix) && !(text.includes('%') && decoded(text).includes(keyPrefix))) return;
  throw new GatewayError(
    'invalid_request',
    'The address has an API key in it, where proxies log it. Send keys in the Authorization header only, and replace ' +
      'this one.',
  );
}

/** The text with its percent escapes of ASCII decoded, also where others are broken. */
function decoded(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
