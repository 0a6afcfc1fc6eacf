import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
const OWN = new Set(['same-origin', 'none']);

/**
 * Refuses a request with a session, or one that makes one, that another site may have caused: unsafe methods need JSON,
 * which a form can't send, and an own origin. Throws 415 `unsupported_media_type` and 403 `cross_site`.
 */
export function requireOwnOrigin({ method, headers }: FastifyRequest): void {
  if (SAFE.has(method)) return;
  const [type] = (headers['content-type'] ?? '').split(';');
  if (type?.trim().toLowerCase() !== 'application/json')
    throw new GatewayError('unsupported_media_type', 'Send Content-Type: application/json.');
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined ? hostOf(headers.origin) === hostOf(`//${headers.host}`) : OWN.has(String(site));
  if (isOwn) return;
  throw new GatewayError(
    'cross_site',
    'This request came from another site. Send Sec-Fetch-Site: same-origin, or an Origin equal to this host.',
  );
}

/** Host and port of an origin, in lower case; undefined: none. */
function hostOf(origin: string | undefined): string | undefined {
  const [, host] = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/]+)$/i.exec(origin ?? '') ?? [];
  return host?.toLowerCase().replace(/:(80|443)$/, '');
}
