import { type Reader, reader } from './reader.ts';

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

/** Name, in lower case, of a request header to forward to an upstream. */
export const passHeader: Reader<string> = reader({ type: 'string', pattern: NAME }, (value, path, faults) => {
  if (typeof value !== 'string' || !new RegExp(NAME).test(value)) {
    return faults.add(path, 'must be the name of a request header, such as x-trace-id');
  }
  const name = value.toLowerCase();
  if (OUR_OWN.has(name) || name.startsWith('x-forwarded-')) {
    return faults.add(
      path,
      `must not be ${name}: the gateway sets this header, or it carries a client's credential or address`,
    );
  }
  return name;
});
