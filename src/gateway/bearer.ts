import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../domain/errors.ts';

/**
 * The key that a request presents: `Authorization: Bearer` (scheme in any case), else `x-api-key`, for Anthropic
 * clients; where both are sent, `Authorization` counts (contract section 3, check 1). Throws 401 `missing_api_key`.
 */
export function presentedKey(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization !== undefined) {
    // Sliced, not matched by a pattern: this runs on every request.
    const scheme = authorization.slice(0, 7).toLowerCase();
    const value = scheme === 'bearer ' ? authorization.slice(7).trim() : '';
    if (value !== '') return value;
  } else {
    const value = headers['x-api-key'];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  throw new GatewayError(
    'missing_api_key',
    'No API key was sent. Send it in the header "Authorization: Bearer <your key>".',
  );
}
