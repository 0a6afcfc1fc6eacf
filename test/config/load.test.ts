import { resolve } from 'node:path';
import { test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { KEY, load, SMALL, withModel } from '../helper/fixtures/config-file.ts';

test('a minimal file gets the defaults of the specification', async (t) => {
  const config = load(t, SMALL);
  t.same(config.server, {
    host: '127.0.0.1',
    port: 8080,
    trustProxy: [],
    bodyLimitBytes: 50 * 1024 * 1024,
    headTimeoutMs: 15_000,
    bodyTimeoutMs: 120_000,
    keepAliveTimeoutMs: 620_000,
    drainDelayMs: 0,
  });
  t.same(config.alerts, { timeoutMs: 10_000, allowPrivateNetworks: false, allow: [] });
  t.same(config.origins, { allowMissing: false });
  t.same(config.accounts, { maxKeys: 10_000, maxKeyBytes: 33_554_432, overdraft: 0, ...NO_CALL_LIMITS });
  t.same(config.limits, {
    requestTimeoutMs: 1_800_000,
    attempts: 3,
    retryUnsure: false,
    headersTimeoutMs: 300_000,
    idleTimeoutMs: 600_000,
    readOnMs: 60_000,
    hiddenTokensPerSecond: 50,
    imageTokens: 20_000,
    contextTokens: 1_000_000,
    toolRounds: 3,
    toolTokens: 50_000,
    waitingCalls: 5_000,
    journalEntries: 1_000_000,
  });
  t.match(config, { keyPrefix: 'sk-tg-', logLevel: 'info', requireDurableRedis: false, warnings: [] });
  t.equal(config.adminToken, undefined);
  t.equal(config.redisUrl, undefined);
  t.equal(config.databaseUrl, undefined);
  t.equal(config.dataDir, resolve('data'));
});

test('a setting of an earlier release is ignored with a warning', async (t) => {
  const { limits, warnings } = load(t, `${SMALL}\nlimits: { maxQueueMs: 60000, waitingCalls: 7 }`);
  t.equal(limits.waitingCalls, 7);
  t.same(warnings, [
    'limits.maxQueueMs no longer exists and has no effect: calls beyond a limit get 429 at once. Remove it',
  ]);
});

test('new accounts have the limits of calls that the file gives them', async (t) => {
  const limits = `rpmLimit: 600, tpmLimit: "\${TPM}", maxParallelRequests: null`;
  const { accounts } = load(t, `${SMALL}\naccounts: { ${limits} }`, { ...KEY, TPM: '100000000000' });
  t.match(accounts, { rpmLimit: 600, tpmLimit: 100_000_000_000, maxParallelRequests: null });
});

test('a model gets its upstream, its slug as upstream model, and exact prices', async (t) => {
  const model = load(t, SMALL).catalog.get('gpt');
  t.same(model?.upstream, {
    name: 'openai',
    url: 'https://api.openai.com',
    apiKey: 'sk-upstream',
    format: 'openai',
    streamUsage: 'ask',
    passHeaders: [],
    passResponseHeaders: [],
  });
  t.equal(model?.upstreamModel, 'gpt');
  t.equal(model?.price.units.input, 150_000n);
  t.equal(model?.price.units.output, 600_000n);
});

test('cached input and cache writes cost as much as input unless priced', async (t) => {
  const price = load(t, SMALL).catalog.get('gpt')?.price;
  t.equal(price?.units.cachedInput, 150_000n);
  t.equal(price?.units.cacheWrite, 150_000n);
  const own = load(
    t,
    withModel('{ upstream: openai, category: text, price: { input: 2, cachedInput: 0, cacheWrite: 3 } }'),
  );
  t.equal(own.catalog.get('gpt')?.price.units.cachedInput, 0n);
  t.equal(own.catalog.get('gpt')?.price.units.cacheWrite, 3_000_000n);
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

test('an empty variable is an unset one', async (t) => {
  const config = load(t, SMALL, { OPENAI_API_KEY: '', ADMIN_TOKEN: '', PORT: '', TOLLGATE_DATA: '' });
  t.equal(config.upstreams.size, 0);
  t.equal(config.adminToken, undefined);
  t.equal(config.server.port, 8080);
  t.equal(config.dataDir, resolve('data'));
});

test('the environment wins over the file', async (t) => {
  const file = `${SMALL}\nserver: { host: 10.0.0.1, port: 1, trustProxy: [10.0.0.1] }`;
  const config = load(t, file, {
    ...KEY,
    HOST: '::1',
    PORT: '0',
    TRUST_PROXY: '192.168.0.0/16, 2001:db8::/32',
    ADMIN_TOKEN: 'operator-operator-operator',
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
    adminToken: 'operator-operator-operator',
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

test('a number can come from a variable', async (t) => {
  const config = load(t, `${SMALL}\nserver: { port: "\${MY_PORT}" }`, { ...KEY, MY_PORT: '81' });
  t.equal(config.server.port, 81);
});

test('a price, a markup and an overdraft from a variable were no numbers', async (t) => {
  const file = `upstreams: { o: { url: https://api.openai.com, apiKey: k, format: openai } }
models:
  m: { upstream: o, category: text, maxOutputTokens: 10, price: { input: "\${IN}", output: [{ price: "\${IN}" }, { above: 9, price: 3 }] } }
pricing: { markup: "\${MARKUP}", creditsPerUsd: "\${RATE}" }
accounts: { overdraft: "\${OVERDRAFT}" }`;
  const env = { IN: '1.5', MARKUP: '1.2', RATE: '100', OVERDRAFT: '0.5' };
  const config = load(t, file, env);
  t.match(config.catalog.get('m')?.price.units, { input: 1_500_000n, output: 1_500_000n });
  t.match(config, {
    pricing: { markup: 1_200_000, creditsPerUsd: 100_000_000 },
    accounts: { overdraft: 500_000 },
  });
  t.throws(
    () => load(t, file, { ...env, IN: 'much' }),
    /models\.m\.price\.input: must be a number of credits/,
  );
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

test('webhooks that may go to private networks are warned of', async (t) => {
  const { warnings } = load(t, `${SMALL}\nalerts: { allowPrivateNetworks: true }\n`);
  t.match(warnings.at(-1), /^ALERTS CAN REACH YOUR OWN NETWORK: alerts\.allowPrivateNetworks is true/);
});
