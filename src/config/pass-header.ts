import { type Reader, reader } from '../domain/shape.ts';

const NAME = "^[\\w!#$%&'*+.^`|~-]{1,100}$";

/** Headers set by the gateway, credentials, and headers about a connection or the client's address. */
const OUR_OWN: ReadonlySet<string> = new Set([
  'accept-encoding',
  'api-key',
  'authorization',
  'cf-connecting-ip',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'forwarded-for',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'true-client-ip',
  'upgrade',
  'via',
  'x-api-key',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-goog-api-key',
  'x-original-forwarded-for',
  'x-real-ip',
]);

/** Headers of an answer that the gateway sets, and that are about a connection or the provider's own site. */
const ANSWERS_OWN: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'vary',
  'www-authenticate',
  'x-content-type-options',
  'x-request-id',
  'x-should-retry',
  'x-upstream-request-id',
]);
/** Families of the gateway's headers, and of those that proxies in front obey. */
const ANSWERS_OWN_FAMILIES = /^(?:access-control|x-accel|x-tollgate|x-ratelimit|anthropic-ratelimit)-/;

/** Name, in lower case, of a request header to forward to an upstream. */
export const passHeader = headerName(
  'request',
  'x-trace-id',
  (name) => OUR_OWN.has(name) || name.startsWith('x-forwarded-'),
  "the gateway sets this header, or it carries a client's credential or address",
);

/** Name, in lower case, of a response header of an upstream to forward to clients. */
export const passResponseHeader = headerName(
  'response',
  'x-model-version',
  (name) => ANSWERS_OWN.has(name) || ANSWERS_OWN_FAMILIES.test(name),
  'the gateway sets this header, or it controls the connection, a browser or a proxy',
);

function headerName(
  what: string,
  example: string,
  isOurs: (name: string) => boolean,
  why: string,
): Reader<string> {
  return reader({ type: 'string', pattern: NAME }, (value, path, faults) => {
    if (typeof value !== 'string' || !new RegExp(NAME).test(value)) {
      return faults.add(path, `must be the name of a ${what} header, such as ${example}`);
    }
    const name = value.toLowerCase();
    return isOurs(name) ? faults.add(path, `must not be ${name}: ${why}`) : name;
  });
}
