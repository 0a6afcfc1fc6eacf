import { test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { writtenPrice } from '../../src/domain/written-price.ts';
import { faults, KEY, load, SMALL, withModel } from '../helper/fixtures/config-file.ts';
import { LOOPBACK_CERTIFICATE } from '../helper/fixtures/test-certificate.ts';

const withUrl = (url: string, more = '') => SMALL.replace('"https://api.openai.com/"', `"${url}"${more}`);
const withKey = (apiKey: string) => SMALL.replace(`\${OPENAI_API_KEY}`, apiKey);

/** Settings that were taken, and could not work. */
const REFUSED: readonly [what: string, file: string, env: NodeJS.ProcessEnv, fault: RegExp][] = [
  [
    'an upstream with /v1',
    withUrl('https://llm.internal/v1'),
    {},
    /^upstreams\.openai\.url: must not end in \/v1/,
  ],
  ['an upstream with /v1/', withUrl('https://llm.internal/v1/'), {}, /url: must not end in \/v1/],
  [
    'an upstream with a route',
    withUrl('https://llm.internal/v1/chat/completions'),
    {},
    /url: must not end in \/v1 or a route/,
  ],
  [
    'an address of messages with their route',
    withUrl('https://llm.internal', ', messagesUrl: "https://llm.internal/v1/messages"'),
    {},
    /messagesUrl: must not end in \/v1 or a route/,
  ],
  ['a credential in quotes within the file', withKey("'sk-x'"), {}, /apiKey: must not be in quotes/],
  [
    'a reference with a default',
    withKey(`\${OPENAI_API_KEY:-sk-x}`),
    {},
    /apiKey: must name .* \$\{NAME\}.*did you mean \$\{OPENAI_API_KEY\}\?/,
  ],
  [
    "a shell's reference",
    withKey('$OPENAI_API_KEY'),
    {},
    /apiKey: must name .* \$\{NAME\}.*did you mean \$\{OPENAI_API_KEY\}\?/,
  ],
  [
    "another gateway's reference",
    withKey('os.environ/OPENAI_API_KEY'),
    {},
    /apiKey: must name .* \$\{NAME\}.*did you mean \$\{OPENAI_API_KEY\}\?/,
  ],
  ['a credential in quotes', SMALL, { OPENAI_API_KEY: '"sk-x"' }, /apiKey: .*quotes.*OPENAI_API_KEY/],
  ['a token in quotes', SMALL, { ADMIN_TOKEN: "'0123456789012345678901234'" }, /^ADMIN_TOKEN: .*quotes/],
  ['trust in everybody', SMALL, { TRUST_PROXY: '0.0.0.0/0' }, /^TRUST_PROXY: .*\/0/],
  ['trust in everybody of IPv4 in IPv6', SMALL, { TRUST_PROXY: '::ffff:0:0/96' }, /^TRUST_PROXY: .*\/0/],
  ['trust in everybody of IPv6', SMALL, { TRUST_PROXY: '10.0.0.1, ::/0' }, /^TRUST_PROXY: .*\/0/],
  [
    'a Redis database by name',
    SMALL,
    { REDIS_URL: 'redis://cache:6379/tollgate' },
    /^REDIS_URL: .*by its number/,
  ],
  ['a Redis database below 0', SMALL, { REDIS_URL: 'redis://cache:6379/-1' }, /^REDIS_URL: .*by its number/],
  [
    'a proxy for plain HTTP',
    withUrl('http://llm', ', proxy: "http://proxy:3128"'),
    {},
    /proxy: .* http:\/\//,
  ],
  ['a proxy with a path', withUrl('https://llm', ', proxy: "http://proxy:3128/x"'), {}, /proxy: must be the/],
  [
    'a proxy whose password can be sent by no call',
    withUrl('https://llm', ', proxy: "http://us:100%@proxy:3128"'),
    {},
    /proxy: must be the http.* %25$/m,
  ],
  ['a SOCKS proxy', withUrl('https://llm', ', proxy: "socks5://proxy:1080"'), {}, /proxy: must be the http/],
  [
    'a CA file that is not there',
    withUrl('https://llm', ', ca: gone.pem'),
    {},
    /ca: names the file .*gone\.pem/,
  ],
  ['a CA file that is none', withUrl('https://llm', ', ca: gateway.yaml'), {}, /ca: must be a file of cert/],
  [
    'a misspelt provider',
    SMALL.replace(/openai: \{.*\}/, 'openai: { provider: open-ai, apiKey: x }'),
    {},
    /^upstreams\.openai\.provider: has no known address.*did you mean openai/,
  ],
  ['a host with a port', `${SMALL}\nserver: { host: "0.0.0.0:8080" }`, {}, /^server\.host: .*without .*port/],
  ["LiteLLM's format", 'model_list:\n  - model_name: gpt', {}, /^model_list: is LiteLLM's format/],
  ['all receivers', `${SMALL}\nalerts: { allow: [0.0.0.0/0] }`, {}, /^alerts\.allow\[0\]: .*not \/0$/],
  [
    'all receivers in IPv6',
    `${SMALL}\nalerts: { allow: ["::ffff:0:0/96"] }`,
    {},
    /^alerts\.allow\[0\]: .*\/0$/,
  ],
  ['a receiver by name', `${SMALL}\nalerts: { allow: [hooks] }`, {}, /^alerts\.allow\[0\]: must be an IP/],
  [
    'another proxy for the same host',
    SMALL.replace(
      '\nmodels:',
      '\n  twin: { url: "https://api.openai.com/x", format: openai, proxy: "http://p" }\nmodels:',
    ),
    {},
    /^upstreams\.twin\.proxy: must be that of openai/,
  ],
  [
    'a markup beside a price',
    withModel('{ upstream: openai, category: text, price: { input: 1 }, markup: 3 }'),
    {},
    /^models\.gpt\.markup: has no effect/,
  ],
];

for (const [what, file, env, fault] of REFUSED) {
  test(`${what} is refused`, async (t) => {
    const found = faults(t, file, { ...KEY, ...env });
    t.equal(found.length, 1);
    t.match(found[0], fault);
  });
}

test('an upstream whose path is its own may end in /v1', async (t) => {
  t.same(faults(t, withUrl('https://llm.internal/v1', ', path: /openai')), []);
});

test('a proxy for outgoing calls is named as not used', async (t) => {
  const { warnings } = load(t, SMALL, {
    ...KEY,
    HTTPS_PROXY: 'http://proxy:3128',
    http_proxy: 'http://proxy:3128',
  });
  t.match(warnings, [/^HTTPS_PROXY and http_proxy not used.*proxy: "\$\{HTTPS_PROXY\}"$/]);
});

test('a proxy can be that of the environment, and a CA file lies beside the config file', async (t) => {
  const { cert } = LOOPBACK_CERTIFICATE;
  const yaml = withUrl('https://llm', `, proxy: "\${HTTPS_PROXY}", ca: ca.pem`);
  const folder = t.testdir({ 'gateway.yaml': yaml, 'ca.pem': cert });
  const env = { ...KEY, HTTPS_PROXY: 'http://us:pw@proxy:3128' };
  const { upstreams, warnings } = loadConfig({ env, file: `${folder}/gateway.yaml` });
  t.match(upstreams.get('openai'), { proxy: env.HTTPS_PROXY, ca: cert.trim() });
  t.same(warnings, []);
});

test('a general markup warns of the prices that it leaves as they are', async (t) => {
  const { warnings } = load(t, `${SMALL}\npricing: { markup: 1.2 }`);
  t.match(warnings, [/^pricing\.markup multiplies list prices only.*: gpt$/]);
});

test('what a provider takes for a model with a written price was not known', async (t) => {
  const file = withModel(
    '{ targets: [{ upstream: openai }, { upstream: openai, upstreamModel: b, cost: { input: 2 } }], category: text, price: { input: 3 }, cost: { input: 1 } }',
  );
  const places =
    load(t, file)
      .catalog.get('gpt')
      ?.targets?.map(({ model }) => model) ?? [];
  t.same(
    places.map(({ price, cost }) => [writtenPrice(price).input, cost && writtenPrice(cost).input]),
    [
      ['3.000000', '1.000000'],
      ['3.000000', '2.000000'],
    ],
  );
});

test('a public provider without a credential gets one warning, by preset or address', async (t) => {
  const warnings = (upstream: string) =>
    load(t, SMALL.replace(/openai: \{.*\}/, `openai: ${upstream}`), {}).warnings;
  t.match(warnings('{ provider: openai }'), [/^upstreams\.openai has no apiKey/]);
  t.match(warnings('{ url: "https://api.openai.com/", format: openai }'), [
    /^upstreams\.openai has no apiKey/,
  ]);
  t.match(warnings(`{ provider: openai, apiKey: "\${OPENAI_API_KEY}" }`), [/^upstream openai is left out/]);
  t.same(warnings('{ provider: ollama }'), []);
  t.same(warnings('{ url: "https://llm.internal", format: openai }'), []);
});

test('a price of text without output gets a warning', async (t) => {
  const warnings = (more: string) =>
    load(t, withModel(`{ category: text, maxOutputTokens: 10, ${more} }`)).warnings;
  t.match(warnings('upstream: openai, price: { input: 1 }'), [/^the price has no output.*: gpt\./]);
  const targets = 'targets: [{ upstream: openai, price: { input: 1 } }]';
  t.match(warnings(`${targets}, price: { input: 1, output: 2 }`), [/^the price has no output.*: gpt\./]);
  t.same(warnings('upstream: openai, price: { input: 1, output: 0 }'), []);
  t.same(warnings('upstream: openai, price: { request: 1 }'), []);
});
