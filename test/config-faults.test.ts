import { test } from 'tap';
import { loadConfig } from '../src/config/load.ts';
import { faults, load, SMALL, withModel } from './helper/fixtures/config-file.ts';

test('a model of an upstream that is left out is still checked', async (t) => {
  t.match(faults(t, withModel('{ upstream: openai, category: text }'), {}), [/^models\.gpt\.price: /]);
});

test('one run names every fault, with its path and a correct value', async (t) => {
  const file = `
server: { host: "http://x", port: 70000, trustProxy: [1, "1", 10.0.0.0/33], bodyLimitMb: 0, prot: 1 }
alerts: { timeoutMs: soon, allowPrivateNetworks: perhaps }
limits: { imageTokens: 1.5 }
upstreams:
  a: { url: "ftp://x", apiKey: "two words", format: grpc }
  b: { url: "https://user:pw@x", format: openai }
  c: { url: "https://x", format: openai }
models:
  m: { upstream: nowhere, category: song, price: { input: -1, output: 0.0000001, tokens: 2 } }
extra: {}
`;
  const env = {
    HOST: 'a b',
    PORT: '80a',
    LOG_LEVEL: 'loud',
    TRUST_PROXY: '10.0.0.0/8,2',
    KEY_PREFIX: 'sk tg',
    ADMIN_TOKEN: 'only-twenty-three-chars',
    METRICS_TOKEN: 'twenty-five-but-a-space !',
    REDIS_URL: 'http://x',
    DATABASE_URL: 'mysql://x',
    REQUIRE_DURABLE_REDIS: 'maybe',
  };
  const found = faults(t, file, env);
  const paths = found.map((line) => line.slice(0, line.indexOf(': ')));
  t.same(paths.sort(), [
    'ADMIN_TOKEN',
    'DATABASE_URL',
    'HOST',
    'KEY_PREFIX',
    'LOG_LEVEL',
    'METRICS_TOKEN',
    'PORT',
    'REDIS_URL',
    'REQUIRE_DURABLE_REDIS',
    'TRUST_PROXY',
    'alerts.allowPrivateNetworks',
    'alerts.timeoutMs',
    'extra',
    'limits.imageTokens',
    'models.m.category',
    'models.m.price.input',
    'models.m.price.output',
    'models.m.price.tokens',
    'models.m.upstream',
    'server.bodyLimitMb',
    'server.host',
    'server.port',
    'server.prot',
    'server.trustProxy[0]',
    'server.trustProxy[1]',
    'server.trustProxy[2]',
    'upstreams.a.apiKey',
    'upstreams.a.format',
    'upstreams.a.url',
    'upstreams.b.url',
  ]);
  t.ok(found.includes('server.port: must be a whole number from 0 to 65535'));
});

test('no fault quotes a value, which may be a secret', async (t) => {
  const found = faults(t, SMALL, { OPENAI_API_KEY: 'hunter 2', DATABASE_URL: 'pg://u:hunter2@x' }).join('\n');
  t.match(found, /upstreams\.openai\.apiKey/);
  t.match(found, /DATABASE_URL/);
  t.notMatch(found, /hunter/);
});

test('a model is priced or free, not neither and not both', async (t) => {
  const common = 'upstream: openai, category: text';
  t.match(faults(t, withModel(`{ ${common} }`)), [/^models\.gpt\.price: .*free: true/]);
  t.match(faults(t, withModel(`{ ${common}, price: {} }`)), [/^models\.gpt\.price: /]);
  t.match(faults(t, withModel(`{ ${common}, price: { input: 0 } }`)), [/^models\.gpt\.price: /]);
  t.match(faults(t, withModel(`{ ${common}, free: true, price: { input: 1 } }`)), [/^models\.gpt\.free: /]);
  t.equal(load(t, withModel(`{ ${common}, free: true }`)).catalog.get('gpt')?.price.units.input, 0n);
});

test('a price by size or quality names one, and is for pictures and videos', async (t) => {
  const model = (price: string) => withModel(`{ upstream: openai, category: image, price: ${price} }`);
  const { price } =
    load(t, model('{ image: { 1024x1024: 0.04, 1536x1024/high: 0.25 } }')).catalog.get('gpt') ?? {};
  t.same(price?.variants?.image, [
    { size: '1024x1024', price: 40_000_000_000n },
    { size: '1536x1024', quality: 'high', price: 250_000_000_000n },
  ]);
  t.equal(price?.units.image, 250_000_000_000n, 'the dearest is held');
  t.match(faults(t, model('{ image: { a b: 0.04 } }')), [/^models\.gpt\.price\.image\.a b: must be a size/]);
  t.match(faults(t, model('{ image: { high: -1 } }')), [
    /^models\.gpt\.price\.image\.high: must be a number/,
  ]);
  t.match(faults(t, model('{ image: {} }')), [/^models\.gpt\.price\.image: must be a number/]);
  t.match(faults(t, model('{ image: 1, input: { high: 1 } }')), [
    /^models\.gpt\.price\.input: must be a number/,
  ]);
});

test('a price that was begun and not filled in is not 0', (t) => {
  const priced = '{ upstream: openai, category: text, maxOutputTokens: 9, price: { input: , output: 1 } }';
  t.match(faults(t, withModel(priced)), [/^models\.gpt\.price\.input: must be a number of credits/]);
  t.end();
});

test('a priced output without its bound gets a default and a warning', async (t) => {
  const { catalog, warnings } = load(
    t,
    withModel('{ upstream: openai, category: text, price: { output: 1 } }'),
  );
  t.equal(catalog.get('gpt')?.maxOutputTokens, 16_384);
  t.match(warnings, [/^models\.gpt\.maxOutputTokens is not set/]);
});

test('a variable that is needed outside an upstream is a fault', async (t) => {
  t.match(faults(t, `${SMALL}\nserver: { host: "\${LISTEN_ON}" }`), [/^server\.host: .*LISTEN_ON/]);
});

test('broken YAML is refused with its place and without quoting the file', async (t) => {
  const found = faults(t, 'upstreams: {\n  secret: [hunter2\nmodels: 1');
  t.match(found[0], /line \d+, column \d+/);
  t.notMatch(found.join('\n'), /hunter2/);
});

test('a repeated model is refused instead of silently replaced', async (t) => {
  t.match(faults(t, `${SMALL}${SMALL.split('\n').at(-2)}\n`)[0], /^models\.gpt: must be set once/);
});

test('passResponseHeaders names headers in any case, and none that the gateway sets or a proxy obeys', async (t) => {
  const file = (names: string) =>
    SMALL.replace('format: openai', `format: openai, passResponseHeaders: ${names}`);
  t.same(load(t, file('[X-Team]')).catalog.get('gpt')?.upstream.passResponseHeaders, ['x-team']);
  const refused = ['Set-Cookie', 'cache-control', 'X-Accel-Redirect', 'x-tollgate-charge', 'Content-Length'];
  const found = faults(t, file(`[${refused.join(', ')}]`));
  t.same(
    found.map((fault) => fault.split(': ')[1]),
    refused.map((name) => `must not be ${name.toLowerCase()}`),
  );
});

test('passHeaders names headers in any case, and none that would take the credential or the framing along', async (t) => {
  const file = (names: string) => SMALL.replace('format: openai', `format: openai, passHeaders: ${names}`);
  t.same(load(t, file('[X-Team, range]')).catalog.get('gpt')?.upstream.passHeaders, ['x-team', 'range']);
  const refused = [
    'Authorization',
    'host',
    'Content-Length',
    'X-Forwarded-Host',
    'cookie',
    'idempotency-key',
  ];
  for (const [index, fault] of faults(t, file(`[${[...refused, '"x team"', '7'].join(', ')}]`)).entries()) {
    const right =
      index < refused.length ? `must not be ${refused[index]?.toLowerCase()}: ` : 'must be the name of';
    t.ok(fault.startsWith(`upstreams.openai.passHeaders[${index}]: ${right}`), fault);
  }
  t.match(faults(t, file('range')), [/^upstreams\.openai\.passHeaders: must be a list/]);
});

test('an absent file is refused by name', async (t) => {
  t.throws(() => loadConfig({ env: {}, file: '/nowhere/gateway.yaml' }), {
    message: /\/nowhere\/gateway\.yaml.*exist/,
  });
});

test('an empty file is refused', async (t) => {
  t.match(faults(t, ''), [/^the file: /]);
});

test('a repeated key is named with its path, and hides no other fault', async (t) => {
  const file = `
server: { port: 70000 }
upstreams:
  a: { url: "https://x", format: openai }
  a: { url: "https://y", format: openai }
models:
  m: { upstream: a, category: text, price: { input: 1, input: 2 } }
`;
  t.same(faults(t, file, {}), [
    'upstreams.a: must be set once, but is set in lines 4 and 5',
    'models.m.price.input: must be set once, but is set in lines 7 and 7',
    'server.port: must be a whole number from 0 to 65535',
  ]);
});

test('a fault that comes from the environment names its variable, and does not blame the file', async (t) => {
  const told = (file: string, env: NodeJS.ProcessEnv) => {
    try {
      load(t, file, env);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  t.match(told(SMALL, { PORT: '80a' }), /^The configuration \(the environment\) is invalid: PORT: /);
  const file = `
upstreams:
  a: { url: "\${PROVIDER}", format: openai }
models:
  m: { upstream: a, category: text, price: { input: 1 } }
`;
  t.match(
    told(file, { PROVIDER: 'ftp://x' }),
    /^The configuration \(the environment\) is invalid: upstreams\.a\.url: .* \(it comes from PROVIDER\)$/,
  );
  t.match(
    told(`${file}extra: {}`, { PORT: '80a' }),
    /^The configuration \(\S+ and the environment\) is invalid: extra: .* \| PORT: /,
  );
});
