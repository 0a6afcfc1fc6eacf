import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSecure, type LinkParts } from './links.ts';

type CookieParts = Pick<LinkParts, 'trustProxy'>;

/** Browsers take this prefix only with `Secure`, over TLS, and from no other host. */
const SECURE_PREFIX = '__Host-';

/** Value of a cookie that `setCookie` set; undefined: none. */
export function readCookie(request: FastifyRequest, parts: CookieParts, name: string): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[fullName(request, parts, name)];
}

/** Sets a cookie that scripts can't read and other sites can't send, but for links that lead here. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: CookieParts,
  { name, value, maxAge }: { readonly name: string; readonly value: string; readonly maxAge: number },
): void {
  const secure = isSecure(request, parts);
  const fixed = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  // Fastify adds to the cookies that the answer sets already.
  reply.header(
    'set-cookie',
    stringifySetCookie({ name: fullName(request, parts, name), value, maxAge, ...fixed }),
  );
}

function fullName(request: FastifyRequest, parts: CookieParts, name: string): string {
  return isSecure(request, parts) ? `${SECURE_PREFIX}${name}` : name;
}
