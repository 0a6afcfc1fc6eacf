import { resolve } from 'node:path';
import { type Test, test } from 'tap';
import { CATEGORIES } from '../src/domain/key.ts';
import { isPriced } from '../src/domain/price.ts';
import { ConfigError, loadConfig } from '../src/load-config.ts';

const SMALL = `
upstreams:
  openai: { url: "https://api.openai.com/", apiKey: "\${OPENAI_API_KEY}", format: openai }
models:
  gpt: { upstream: openai, category: text, maxOutputTokens: 100, price: { input: 0.15, output: 0.6 } }
`;
const KEY = { OPENAI_API_KEY: 'sk-upstream' };

function load(t: Test, yaml: string, env: NodeJS.ProcessEnv = KEY) {
  const folder = t.testdir({ 'gateway.yaml': yaml });
  return loadConfig({ env, file: `${folder}/gateway.yaml` });
}

/** What the refusal names; none where the file is accepted. */
function faults(t: Test, yaml: string, env: NodeJS.ProcessEnv = KEY): readonly string[] {
  try {
    load(t, yaml, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const withModel = (model: string) => SMALL.replace(/ {2}gpt: .*/, `  gpt: ${model}`);

test('a minimal file gets the defaults of the contract', async (t) => {
  const config = load(t, SMALL);
  t.same(config.server, {
    host: '127.0.0.1',
    port: 8080,
    trustProxy: [],
    bodyLimitBytes: 50 * 1024 * 1024,
    headTimeoutMs: 15_000,
    bodyTimeoutMs: 120_000,
    drainDelayMs: 0,
  });
  t.same(config.alerts, { timeoutMs: 10_000, allowPrivateNetworks: false });
  t.same(config.origins, { allowMissing: false });
  t.same(config.limits, {
    requestTimeoutMs: 1_800_000,
    headersTimeoutMs: 300_000,
    idleTimeoutMs: 120_000,
    imageTokens: 20_000,
    contextTokens: 1_000_000,
    waitingCalls: 5_000,
    journalEntries: 1_000_000,
  });
  t.match(config, { keyPrefix: 'sk-tg-', logLevel: 'info', requireDurableRedis: false, warnings: [] });
  t.equal(config.adminToken, undefined);
  t.equal(config.redisUrl, undefined);
  t.equal(config.databaseUrl, undefined);
  t.equal(config.dataDir, resolve('data'));
});

test('a model gets its upstream, its slug as upstream model, and exact prices', async (t) => {
  const model = load(t, SMALL).catalog.get('gpt');
  t.same(model?.upstream, {
    name: 'openai',
    url: 'https://api.openai.com',
    apiKey: 'sk-upstream',
    format: 'openai',
  });
  t.equal(model?.upstreamModel, 'gpt');
  t.equal(model?.price.input, 150_000n);
  t.equal(model?.price.output, 600_000n);
});

test('cached input and cache writes cost what input costs unless priced', async (t) => {
  const price = load(t, SMALL).catalog.get('gpt')?.price;
  t.equal(price?.cachedInput, 150_000n);
  t.equal(price?.cacheWrite, 150_000n);
  const own = load(
    t,
    withModel('{ upstream: openai, category: text, price: { input: 2, cachedInput: 0, cacheWrite: 3 } }'),
  );
  t.equal(own.catalog.get('gpt')?.price.cachedInput, 0n);
  t.equal(own.catalog.get('gpt')?.price.cacheWrite, 3_000_000n);
});

test('the shipped file loads without any key, and warns once for each upstream left out', async (t) => {
  const config = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  t.same([...config.upstreams.keys()], ['demo', 'demo-anthropic']);
  t.same([...config.catalog.keys()].sort(), [
    'demo-chat',
    'demo-claude',
    'demo-embedding',
    'demo-image',
    'demo-moderation',
    'demo-stt',
    'demo-tts',
    'demo-video',
  ]);
  t.equal(config.warnings.length, 3);
  t.match(config.warnings[0], /^upstream openai .*OPENAI_API_KEY is not set.*: gpt-6-astra, .*whisper-1/);
  t.match(
    config.warnings[2],
    /^upstream videos .*VIDEOS_URL and VIDEOS_API_KEY are not set.*: sora-2, sora-2-pro$/,
  );
});

test('the shipped file has real models of every modality, priced or free, each waiting for a variable by name', async (t) => {
  const { waiting } = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  t.match(waiting, [
    { upstream: 'openai', variables: ['OPENAI_API_KEY'] },
    { upstream: 'anthropic', variables: ['ANTHROPIC_API_KEY'] },
    { upstream: 'videos', variables: ['VIDEOS_URL', 'VIDEOS_API_KEY'] },
  ]);
  const models = waiting.flatMap((one) => one.models);
  t.same(new Set(models.map(({ category }) => category)), new Set(CATEGORIES));
  const free = models.filter(({ price }) => !isPriced(price)).map(({ slug }) => slug);
  t.same(free, ['omni-moderation-latest']);
});

test('every shipped model whose output has a price says how long it can be', async (t) => {
  const env = { ...KEY, ANTHROPIC_API_KEY: 'b', VIDEOS_URL: 'https://videos.example', VIDEOS_API_KEY: 'c' };
  t.same(loadConfig({ env, file: 'config/gateway.yaml' }).warnings, []);
});

test('an upstream whose address comes from a variable that is not set is left out', async (t) => {
  const file = SMALL.replace('https://api.openai.com/', `\${OPENAI_URL}`);
  const { warnings, catalog } = load(t, file, KEY);
  t.match(warnings, [/^upstream openai is left out: OPENAI_URL is not set; .*: gpt$/]);
  t.equal(catalog.size, 0);
  t.equal(
    load(t, file, { ...KEY, OPENAI_URL: 'http://a.example/' }).upstreams.get('openai')?.url,
    'http://a.example',
  );
});

test('the shipped file states the defaults', async (t) => {
  const shipped = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  const { server, alerts, origins, limits } = load(t, SMALL);
  t.same(
    { server: shipped.server, alerts: shipped.alerts, origins: shipped.origins, limits: shipped.limits },
    { server, alerts, origins, limits },
  );
});

test('the shipped file has the models of both providers when their keys are set', async (t) => {
  const env = { ...KEY, ANTHROPIC_API_KEY: 'sk-ant' };
  const config = loadConfig({ env, file: 'config/gateway.yaml' });
  t.equal(config.catalog.get('gpt-4o-mini')?.price.cachedInput, 75_000n);
  t.equal(config.catalog.get('claude-sonnet-5-5')?.upstream.format, 'anthropic');
  t.match(config.waiting, [{ upstream: 'videos' }]);
});

test('an empty variable is an unset one', async (t) => {
  const config = load(t, SMALL, { OPENAI_API_KEY: '', ADMIN_TOKEN: '', PORT: '', TOLLGATE_DATA: '' });
  t.equal(config.upstreams.size, 0);
  t.equal(config.adminToken, undefined);
  t.equal(config.server.port, 8080);
  t.equal(config.dataDir, resolve('data'));
});

test('a model of an upstream that is left out is still checked', async (t) => {
  t.match(faults(t, withModel('{ upstream: openai, category: text }'), {}), [/^models\.gpt\.price: /]);
});

test('the environment wins over the file', async (t) => {
  const file = `${SMALL}\nserver: { host: 10.0.0.1, port: 1, trustProxy: [10.0.0.1] }`;
  const config = load(t, file, {
    ...KEY,
    HOST: '::1',
    PORT: '0',
    TRUST_PROXY: '192.168.0.0/16, 2001:db8::/32',
    ADMIN_TOKEN: 'operator',
    KEY_PREFIX: 'sk-acme-',
    LOG_LEVEL: 'debug',
    REDIS_URL: 'redis+cluster://a:7000,b:7001',
    DATABASE_URL: 'postgres://user:secret@db/tollgate',
    REQUIRE_DURABLE_REDIS: 'true',
    TOLLGATE_DATA: '/srv/tollgate',
  });
  t.same(config.server.trustProxy, ['192.168.0.0/16', '2001:db8::/32']);
  t.match(config, {
    server: { host: '::1', port: 0 },
    adminToken: 'operator',
    keyPrefix: 'sk-acme-',
    logLevel: 'debug',
    redisUrl: 'redis+cluster://a:7000,b:7001',
    databaseUrl: 'postgres://user:secret@db/tollgate',
    requireDurableRedis: true,
    dataDir: '/srv/tollgate',
  });
});

test('OpenTelemetry’s own variables say where traces go', async (t) => {
  const tracingOf = (env: NodeJS.ProcessEnv) => load(t, SMALL, { ...KEY, ...env }).tracing;
  t.equal(tracingOf({ OTEL_TRACES_SAMPLER: 'always_on' }), undefined, 'nowhere without an endpoint');
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
  t.same(tracingOf(base), {
    url: 'http://collector:4318/v1/traces',
    sampler: 'parentbased_always_on',
    ratio: 1,
  });
  t.same(
    tracingOf({
      ...base,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }),
    { url: 'https://traces.example.com/in', sampler: 'traceidratio', ratio: 0.25 },
  );
  for (const fault of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    { OTEL_TRACES_SAMPLER: 'sometimes' },
    { OTEL_TRACES_SAMPLER_ARG: '2' },
  ]) {
    t.throws(() => tracingOf(fault), new RegExp(Object.keys(fault).join()));
  }
});

test('TOLLGATE_CONFIG names the file', async (t) => {
  const folder = t.testdir({ 'other.yaml': `${SMALL}\nserver: { port: 9 }` });
  const config = loadConfig({ env: { ...KEY, TOLLGATE_CONFIG: `${folder}/other.yaml` } });
  t.equal(config.server.port, 9);
});

test('JSON is accepted, being YAML', async (t) => {
  t.equal(load(t, '{"upstreams": {}, "models": {}, "server": {"port": 9}}').server.port, 9);
});

test('every fault is named at once, with its path and what would be right', async (t) => {
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
    ADMIN_TOKEN: 'a b',
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
  t.equal(load(t, withModel(`{ ${common}, free: true }`)).catalog.get('gpt')?.price.input, 0n);
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

test('a number can come from a variable', async (t) => {
  const config = load(t, `${SMALL}\nserver: { port: "\${MY_PORT}" }`, { ...KEY, MY_PORT: '81' });
  t.equal(config.server.port, 81);
});

test('broken YAML is refused with its place and without quoting the file', async (t) => {
  const found = faults(t, 'upstreams: {\n  secret: [hunter2\nmodels: 1');
  t.match(found[0], /line \d+, column \d+/);
  t.notMatch(found.join('\n'), /hunter2/);
});

test('a repeated model is refused instead of silently replaced', async (t) => {
  t.match(faults(t, `${SMALL}${SMALL.split('\n').at(-2)}\n`)[0], /unique/i);
});

test('an absent file is refused by name', async (t) => {
  t.throws(() => loadConfig({ env: {}, file: '/nowhere/gateway.yaml' }), {
    message: /\/nowhere\/gateway\.yaml.*exist/,
  });
});

test('an empty file is refused', async (t) => {
  t.match(faults(t, ''), [/^the file: /]);
});

test('a model may have the name of an object property', async (t) => {
  const config = load(t, SMALL.replace('gpt:', '__proto__:'));
  t.ok(config.catalog.has('__proto__'));
});

test('the configuration is frozen', async (t) => {
  const config = load(t, SMALL);
  t.ok(Object.isFrozen(config));
  t.ok(Object.isFrozen(config.server.trustProxy));
  t.ok(Object.isFrozen(config.catalog.get('gpt')?.price));
  t.ok(Object.isFrozen(config.upstreams.get('openai')));
});

test('the demo upstream needs no key', async (t) => {
  const config = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  t.match(config.upstreams.get('demo'), { url: 'demo', format: 'openai' });
  t.match(config.upstreams.get('demo-anthropic'), { url: 'demo', format: 'anthropic' });
});
