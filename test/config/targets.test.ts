import { readFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { liveLine } from '../../src/config/catalog.ts';
import { configChanges } from '../../src/config/changes.ts';
import { PRESETS, type Preset } from '../../src/config/presets.ts';
import type { Target } from '../../src/domain/catalog.ts';
import { targetName } from '../../src/domain/catalog.ts';
import { faults, load } from '../helper/fixtures/config-file.ts';

const UPSTREAMS = `
upstreams:
  one: { provider: openai, apiKeys: ["\${ONE}", "\${ONE_MORE}"] }
  two: { provider: azure, format: openai, url: "https://two.openai.azure.com", apiKey: "\${TWO}" }
  claude: { provider: anthropic, apiKey: c }
`;
const ENV = { ONE: 'key-1', ONE_MORE: 'key-2', TWO: 'key-3' };
const MODEL = 'category: text, maxOutputTokens: 10, price: { input: 1, output: 0 }';
const SEVERAL = `targets: [{ upstream: one, weight: 3 }, { upstream: two, upstreamModel: deployed, priority: 2, price: { input: 2, output: 0 } }]`;

const yaml = (model: string) => `${UPSTREAMS}models:\n  m: { ${model} }\n`;
const places = (targets: readonly Target[] = []) =>
  targets.map(({ model, weight, priority }) => [
    targetName(model.upstream),
    model.upstreamModel,
    weight,
    priority,
  ]);
const loaded = (t: Test, model: string, env: NodeJS.ProcessEnv = ENV) => load(t, yaml(model), env);

test('a model has a target for each credential of each of its upstreams, at its own price', async (t) => {
  const { catalog, warnings, unconfigured } = loaded(t, `${SEVERAL}, ${MODEL}`);
  const model = catalog.get('m');
  t.same(places(model?.targets), [
    ['one', 'm', 3, 1],
    ['one#2', 'm', 3, 1],
    ['two', 'deployed', 1, 2],
  ]);
  t.same(
    model?.targets?.map((target) => target.model.price.units.input),
    [1_000_000n, 1_000_000n, 2_000_000n],
  );
  t.same(
    model?.targets?.map((target) => target.model.upstream.apiKey),
    ['key-1', 'key-2', 'key-3'],
  );
  t.same([warnings, unconfigured], [[], []]);
  t.equal(liveLine({ catalog }), '1 models are live: one 1, two 1');
});

test('one upstream with several credentials has targets too, and one with one has none', async (t) => {
  t.same(places(loaded(t, `upstream: one, ${MODEL}`).catalog.get('m')?.targets), [
    ['one', 'm', 1, 1],
    ['one#2', 'm', 1, 1],
  ]);
  t.equal(loaded(t, `upstream: two, ${MODEL}`).catalog.get('m')?.targets, undefined);
});

test('a target whose variable is unset is left out, the model only with its last one', async (t) => {
  const model = `${SEVERAL}, ${MODEL}`;
  const without = (...names: string[]) =>
    loaded(t, model, Object.fromEntries(Object.entries(ENV).filter(([name]) => !names.includes(name))));
  const first = without('ONE');
  t.same(places(first.catalog.get('m')?.targets), [
    ['one#2', 'm', 3, 1],
    ['two', 'deployed', 1, 2],
  ]);
  t.same(first.warnings, ['upstream one has fewer credentials: ONE not set']);
  const second = without('ONE', 'ONE_MORE');
  t.match(second.catalog.get('m'), {
    upstream: { name: 'two' },
    upstreamModel: 'deployed',
    targets: undefined,
  });
  t.match(second.unconfigured, [{ upstream: 'one', variables: ['ONE', 'ONE_MORE'], models: [] }]);
  const none = without('ONE', 'ONE_MORE', 'TWO');
  t.equal(none.catalog.size, 0);
  t.same(
    none.unconfigured.flatMap(({ models }) => models.map(({ slug }) => slug)),
    ['m'],
    'once',
  );
});

test('a target without a price has that of its provider in the list', async (t) => {
  const listed = `category: text, maxOutputTokens: 10`;
  const several =
    'targets: [{ upstream: one, upstreamModel: gpt-4o-mini }, { upstream: two, upstreamModel: gpt-4o }]';
  const { catalog } = loaded(t, `${several}, ${listed}`);
  const inputs = catalog.get('m')?.targets?.map(({ model }) => model.price.units.input);
  t.same(inputs, [150_000n, 150_000n, 2_500_000n]);
});

for (const [what, model, fault] of [
  [
    'both upstream and targets',
    `upstream: one, ${SEVERAL}`,
    /^models\.m\.targets: must not be combined with upstream$/,
  ],
  ['neither', '', /^models\.m\.upstream: is missing; or set targets$/],
  ['no target', 'targets: []', /^models\.m\.targets: must be a list of targets$/],
  [
    'an unknown upstream',
    'targets: [{ upstream: three }]',
    /^models\.m\.targets\[0\]\.upstream: must be one of the upstreams: one, two, claude$/,
  ],
  [
    'one place twice',
    'targets: [{ upstream: two }, { upstream: two }]',
    /^models\.m\.targets\[1\]: must not name the same place twice$/,
  ],
  [
    'no weight',
    'targets: [{ upstream: two, weight: 0 }]',
    /^models\.m\.targets\[0\]\.weight: must be a number from 0\.001 to 1000000$/,
  ],
] as const) {
  test(`${what} is a fault`, async (t) => {
    t.match(faults(t, yaml(`${model}${model && ', '}${MODEL}`), ENV), [fault]);
  });
}

test('apiKey and apiKeys do not go together, and an address without a provider is needed', async (t) => {
  const of = (upstream: string) =>
    faults(t, `upstreams: { u: { ${upstream} } }\nmodels: { m: { upstream: u, ${MODEL} } }\n`);
  t.same(of('provider: openai, apiKey: a, apiKeys: [b]'), [
    'upstreams.u.apiKeys: must not be combined with apiKey',
  ]);
  t.match(of('provider: azure, apiKey: a'), ['upstreams.u.url: is missing']);
  t.same(of('url: "http://127.0.0.1:1", format: openai, path: v1'), [
    'upstreams.u.path: must be a path, such as /openai/v1; {model} stands for the name of the model, and a query may follow',
  ]);
});

test('settings override a preset', async (t) => {
  const { upstreams } = load(
    t,
    `upstreams: { u: { provider: azure, url: "https://x.example", path: /openai/v1, auth: bearer, prices: openai, streamUsage: leave } }\nmodels: {}\n`,
  );
  t.same(upstreams.get('u'), {
    name: 'u',
    url: 'https://x.example',
    format: 'openai',
    path: '/openai/v1',
    auth: 'bearer',
    streamUsage: 'leave',
    messages: { url: 'https://x.example', path: '/anthropic/v1', auth: 'bearer' },
    passHeaders: [],
    passResponseHeaders: [],
    provider: 'openai',
    apiKey: '',
  });
});

test('a reload says which targets changed', async (t) => {
  const before = loaded(t, `${SEVERAL}, ${MODEL}`);
  const after = loaded(
    t,
    `${SEVERAL.replace('priority: 2', 'priority: 3').replace('input: 2', 'input: 4')}, ${MODEL}`,
  );
  t.same(configChanges(before, after).changed.m?.slice(0, 2), [
    'targets: one/m (weight 3, priority 1), one#2/m (weight 3, priority 1), two/deployed (weight 1, priority 2) -> ' +
      'one/m (weight 3, priority 1), one#2/m (weight 3, priority 1), two/deployed (weight 1, priority 3)',
    'two price.input: 2.000000 -> 4.000000',
  ]);
});

test('the page lists every provider', async (t) => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  for (const [name, preset] of Object.entries<Preset>(PRESETS)) {
    const path = preset.path === undefined ? '/v1' : preset.path;
    const { messages } = preset;
    const below = `${preset.url ?? ''}${(messages?.path ?? '').replace(/\/v1$/, '')}`;
    const second = messages ? `[\`${messages.url ?? (below || 'yours')}\`](${messages.docs})` : '';
    const row = `| [\`${name}\`](${preset.docs}) | ${preset.url === undefined ? 'yours' : `\`${preset.url}\``} | \`${path}\` | ${second} |`;
    t.ok(page.includes(row), row);
  }
});
