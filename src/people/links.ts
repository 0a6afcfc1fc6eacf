import type { FastifyRequest } from 'fastify';
import { type AddressMatcher, parseAddress } from '../domain/addresses.ts';

export interface LinkParts {
  /** `server.publicUrl`, without a trailing slash; undefined: scheme and host of the request. */
  readonly publicUrl: string | undefined;
  /** Proxies whose forwarding headers count. */
  readonly trustProxy: AddressMatcher | undefined;
}

/** Whether the client reached the gateway over TLS, as far as a trusted proxy says so. */
export function isSecure(request: FastifyRequest, { trustProxy }: Pick<LinkParts, 'trustProxy'>): boolean {
  return forwarded(request, 'x-forwarded-proto', trustProxy)?.toLowerCase() === 'https';
}

/** URL at which people reach the gateway, without a trailing slash. */
export function publicUrlOf(request: FastifyRequest, parts: LinkParts): string {
  if (parts.publicUrl !== undefined) return parts.publicUrl;
  const host = forwarded(request, 'x-forwarded-host', parts.trustProxy) ?? request.headers.host;
  return `${isSecure(request, parts) ? 'https' : 'http'}://${host}`;
}

/** Link to a page of the dashboard with a secret, which the fragment keeps out of logs. */
export function pageLink(
  request: FastifyRequest,
  parts: LinkParts,
  page: 'invite' | 'reset' | 'setup',
  secret: string,
): string {
  return `${publicUrlOf(request, parts)}/dashboard/${page}#${secret}`;
}

/** Address to which an identity provider sends the browser back. */
export function callbackUrl(request: FastifyRequest, parts: LinkParts, provider: string): string {
  return `${publicUrlOf(request, parts)}/api/session/oidc/${provider}/callback/`;
}

/** Path of a page of the dashboard for a redirect, below that of the public URL. `page`: with its query and fragment. */
export function pagePath({ publicUrl }: Pick<LinkParts, 'publicUrl'>, page: string): string {
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  return `${prefix}/dashboard/${page}`;
}

/** First value of a forwarding header, if a trusted proxy sent it. */
function forwarded(
  { socket, headers }: FastifyRequest,
  name: string,
  trustProxy: AddressMatcher | undefined,
): string | undefined {
  const peer = trustProxy && parseAddress(socket.remoteAddress ?? '');
  if (!peer || !trustProxy.has(peer)) return undefined;
  const value = headers[name];
  const [first] = (Array.isArray(value) ? value.join(',') : (value ?? '')).split(',');
  return first?.trim() || undefined;
}
