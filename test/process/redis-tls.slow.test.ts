import { join } from 'node:path';
import { type Test, test } from 'tap';
import { LOOPBACK_CERTIFICATE } from '../helper/fixtures/test-certificate.ts';
import { makePlace, run, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { freePort, startRedis } from '../helper/start/redis-process.ts';

/** Specification section 1, "Redis": `rediss://`. The password has what must be escaped in a URL. */
const USER = 'gateway';
const PASSWORD = 'p@ss/w:rd';

interface SecuredRedis {
  readonly certificate: string;
  url(password?: string): string;
}

/** A Redis with TLS that admits one user only. */
async function startSecuredRedis(t: Test): Promise<SecuredRedis> {
  const folder = t.testdir({ 'cert.pem': LOOPBACK_CERTIFICATE.cert, 'key.pem': LOOPBACK_CERTIFICATE.key });
  const certificate = join(folder, 'cert.pem');
  const tlsPort = await freePort();
  const redis = await startRedis(t, {
    'tls-port': String(tlsPort),
    'tls-cert-file': certificate,
    'tls-key-file': join(folder, 'key.pem'),
    'tls-auth-clients': 'no',
  });
  const connection = await redis.connect();
  await connection.acl('SETUSER', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
  await connection.acl('SETUSER', 'default', 'off');
  const credentials = (password: string) => `${USER}:${encodeURIComponent(password)}`;
  return {
    certificate,
    url: (password = PASSWORD) => `rediss://${credentials(password)}@localhost:${tlsPort}`,
  };
}

test('a gateway works over TLS, as its own user', async (t) => {
  const redis = await startSecuredRedis(t);
  const env = { REDIS_URL: redis.url(), NODE_EXTRA_CA_CERTS: redis.certificate };
  const gateway = await startGatewayProcess(t, makePlace(t, 'http://127.0.0.1:1', env));
  const ready = await fetch(`${gateway.url}/readyz`);
  t.match(await ready.json(), { status: 'ok', redis: { ok: true, durable: true } });
  const { code, errors } = await gateway.stop();
  t.equal(code, 0, errors);
});

test('a certificate that is not trusted is refused, and named as the reason', async (t) => {
  const redis = await startSecuredRedis(t);
  const { env } = makePlace(t, 'http://127.0.0.1:1', { REDIS_URL: redis.url() });
  const { code, errors } = await run('main.js', env);
  t.equal(code, 1);
  t.match(errors, /^tollgate: Redis can't be reached \(self-signed certificate[^)]*\).*REDIS_URL[^\n]*\n$/);
});

test('a wrong password is refused, named as the reason, and not repeated', async (t) => {
  const redis = await startSecuredRedis(t);
  const settings = { REDIS_URL: redis.url('geheim'), NODE_EXTRA_CA_CERTS: redis.certificate };
  const { code, errors } = await run('main.js', makePlace(t, 'http://127.0.0.1:1', settings).env);
  t.equal(code, 1);
  t.match(errors, /^tollgate: Redis can't be reached \(WRONGPASS [^\n]*REDIS_URL[^\n]*\n$/);
  t.notMatch(errors, 'geheim');
});
