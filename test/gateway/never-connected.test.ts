import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { failureOfConnection } from '../../src/gateway/targets/failures.ts';
import { failureOf } from '../../src/gateway/upstream/failure.ts';

const coded = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
const AT = { upstream: { apiKey: '' } } as unknown as Model;

/** Errors of undici and Node for a connection that was not made. */
const NEVER_MADE: Readonly<Record<string, Error>> = {
  'all its time': coded('UND_ERR_CONNECT_TIMEOUT'),
  'a lost packet at one address': coded('ETIMEDOUT', { syscall: 'connect' }),
  'several addresses': new AggregateError([coded('ETIMEDOUT'), coded('ENETUNREACH')]),
  'a refusal': coded('ECONNREFUSED'),
  'an unknown name': coded('ENOTFOUND'),
};

test('a connection that was never made was 504, which clients take for a call that may have been billed', async (t) => {
  for (const [name, error] of Object.entries(NEVER_MADE)) {
    const [refusal, outcome] = failureOf(error, false);
    t.match(refusal, { statusCode: 502, code: 'upstream_unavailable' }, name);
    t.equal(outcome, 'upstream_unreachable', name);
    t.equal(failureOfConnection(error, AT).cause, 'connection', name);
  }
});

test('a certificate that is not verified is a failed handshake, and gets no advice for an option that is not there', async (t) => {
  const message =
    'unable to verify the first certificate; if the root CA is installed locally, try --use-system-ca';
  const error = Object.assign(new Error(message), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  t.match(failureOfConnection(error, AT), {
    cause: 'tls',
    error: /^unable to verify the first certificate$/,
  });
  t.equal(failureOf(error, false)[1], 'upstream_unreachable');
  for (const code of [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'CERT_HAS_EXPIRED',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'EPROTO',
  ])
    t.equal(failureOfConnection(coded(code), AT).cause, 'tls', code);
});

test('a connection that broke or was silent after the request is neither', async (t) => {
  t.equal(failureOf(coded('ECONNRESET'), false)[1], 'upstream_broke');
  t.equal(failureOf(coded('ETIMEDOUT', { syscall: 'read' }), false)[1], 'upstream_broke');
  t.match(failureOf(coded('UND_ERR_HEADERS_TIMEOUT'), true)[0], {
    statusCode: 504,
    code: 'upstream_timeout',
  });
});
