import { writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { ConfigError, loadConfig } from '../../src/config/load.ts';
import type { Model } from '../../src/domain/catalog.ts';
import { writtenPrice } from '../../src/domain/written-price.ts';

interface Given {
  readonly pricing?: string;
  readonly provider?: string;
  readonly model?: string;
  /** The data of `pricing.list`, written beside the file as list.json. */
  readonly list?: unknown;
  readonly now?: Date;
}

/** A file with one model, `gpt`, of one upstream that names a provider. */
function load(t: Test, { pricing = '{}', provider = 'openai', model = '', list, now }: Given) {
  const folder = t.testdir({
    'gateway.yaml': `
pricing: ${pricing}
upstreams: { up: { url: "https://api.example", apiKey: k, format: openai${provider && `, provider: ${provider}`} } }
models: { gpt: { upstream: up, category: text, maxOutputTokens: 9${model && `, ${model}`} } }
`,
    ...(list === undefined ? {} : { 'list.json': typeof list === 'string' ? list : JSON.stringify(list) }),
  });
  return loadConfig({ env: {}, file: `${folder}/gateway.yaml`, ...(now === undefined ? {} : { now }) });
}

function gpt(t: Test, given: Given): Model {
  const model = load(t, given).catalog.get('gpt');
  if (!model) throw new Error('the model is not there');
  return model;
}

function faults(t: Test, given: Given): readonly string[] {
  try {
    load(t, given);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const MINI = 'upstreamModel: gpt-4o-mini';
const LIST_MINI = { input: '0.150000', output: '0.600000', cachedInput: '0.075000', webSearch: '10.000000' };

test('a model without a price has that of the list, its context window, and is its own cost', async (t) => {
  const model = gpt(t, { model: MINI });
  t.same(writtenPrice(model.price), LIST_MINI);
  t.equal(model.priceSource, 'list');
  t.equal(model.contextWindow, 128_000);
  t.same(model.cost, model.price);
  t.match(load(t, { model: MINI }).pricing, { version: /^@pydantic\/genai-prices \d/, unpriced: 'refuse' });
});

test('credits per dollar and markup multiply list prices; cost is without the markup', async (t) => {
  const pricing = '{ creditsPerUsd: 100, markup: 1.2 }';
  const model = gpt(t, { pricing, model: `${MINI}, serviceTiers: { flex: 0.5 }` });
  t.same(writtenPrice(model.price), {
    input: '18.000000',
    output: '72.000000',
    cachedInput: '9.000000',
    webSearch: '1200.000000',
  });
  t.match(model.cost?.units, { input: 15_000_000n, output: 60_000_000n });
  t.same([...(model.cost?.serviceTiers ?? [])], [['flex', 500_000]]);
  t.match(
    gpt(t, { pricing, model: `${MINI}, markup: 2` }).price.units,
    { input: 30_000_000n },
    'its own markup',
  );
});

test('each unit price is rounded up once', async (t) => {
  const model = gpt(t, { pricing: '{ markup: 1.000001 }', model: MINI });
  t.equal(writtenPrice(model.price).cachedInput, '0.075001');
  t.equal(writtenPrice(model.price).webSearch, '10.000010');
});

test('a written price wins over the list, and is not multiplied', async (t) => {
  const model = gpt(t, { pricing: '{ markup: 3 }', model: `${MINI}, price: { input: 7 }, contextWindow: 5` });
  t.same(writtenPrice(model.price), { input: '7.000000' });
  t.match(model, { priceSource: 'config', contextWindow: 5 });
  t.equal(model.cost, undefined);
  t.match(gpt(t, { model: `${MINI}, free: true` }), { priceSource: 'free' });
});

test('long prompts have the prices of their tier', async (t) => {
  const { price } = gpt(t, { model: 'upstreamModel: gpt-6-sol' });
  t.match(price.tiers, [{ above: 272_000, units: { input: 4_000_000n, output: 15_000_000n } }]);
  const { price: other } = gpt(t, { model: 'upstreamModel: gpt-5.4' });
  t.match(other.tiers, [{ above: 272_000, units: { input: 5_000_000n } }]);
});

test('a length tier begins above 1 to 1,000,000,000 tokens', async (t) => {
  const tierAt = (above: number) => ({
    model: `${MINI}, price: { input: [{ price: 1 }, { above: ${above}, price: 2 }] }`,
  });
  for (const above of [1, 1_000_000_000]) t.match(gpt(t, tierAt(above)).price.tiers, [{ above }]);
  for (const above of [0, 1.5, 1_000_000_001])
    t.match(faults(t, tierAt(above)), [/above: must be a whole number/], `${above}`);
});

test('a model that searches with every call needs the price of a request', async (t) => {
  const model = 'upstreamModel: gpt-4o-search-preview';
  t.match(faults(t, { model }), [
    /^models\.gpt\.price: .*searches with every call.* write the price with request$/,
  ]);
  t.match(gpt(t, { model: `${model}, price: { input: 2.5, output: 10, request: 0.025 }` }), {
    priceSource: 'config',
  });
  t.match(gpt(t, { model: 'upstreamModel: o3-deep-research' }), { priceSource: 'list' });
});

test('the day until which a price is promised is a day', async (t) => {
  t.equal(gpt(t, { model: 'upstreamModel: gpt-5.4, priceUntil: 2026-11-21' }).priceUntil, '2026-11-21');
  for (const wrong of ['2026-11-31', '"21 November"', '2026', '2026-1-1'])
    t.match(faults(t, { model: `upstreamModel: gpt-5.4, priceUntil: ${wrong}` }), [
      /^models\.gpt\.priceUntil: must be a date, such as 2026-11-21/,
    ]);
});

test('dated prices are those of the moment of the start', async (t) => {
  const model = 'upstreamModel: gemini-3.6-flash';
  const at = (day: string) => gpt(t, { provider: 'google', model, now: new Date(day) }).price.units.input;
  t.ok(at('2026-12-31T23:59:59Z') < at('2027-01-01T00:00:00Z'));
});

test('a model that is neither priced nor listed nor free gets a suggestion', async (t) => {
  const unlisted = { model: 'upstreamModel: gpt-4o-minni' };
  t.match(faults(t, unlisted), [
    /^models\.gpt\.price: must set a price above 0, or the model must set free: true: openai in the price list \(@pydantic\/genai-prices [\d.]+\) has no model with this name \(like it: gpt-4o-mini/,
  ]);
  t.match(faults(t, { provider: '' }), [
    /^models\.gpt\.price: must set a price above 0, or the model must set free: true, or its upstream must name the provider .* provider: openai$/,
  ]);
  t.match(faults(t, { provider: 'groq', model: 'upstreamModel: whisper-large-v3' }), [
    /^models\.gpt\.price: .* can't be used: groq bills 10 seconds/,
  ]);
  t.match(faults(t, { model: `${MINI}, markup: 0` }), [/^models\.gpt\.markup: must be a number from/]);
});

test('an unknown provider is a fault that names those like it, and the only one', async (t) => {
  t.match(faults(t, { provider: 'antropic' }), [
    /^upstreams\.up\.provider: is not a provider of the price list \(.*\); like it: anthropic$/,
  ]);
  t.match(faults(t, { provider: 'gemini' }), [/like it: google/]);
  t.match(faults(t, { provider: 'qqqqqqqqqq' }), [/; known: anthropic, .*zhipuai$/]);
});

test('numbers that no price can be made from are faults', async (t) => {
  const bad = '{ creditsPerUsd: 0, markup: 0.0000001, unpriced: maybe, color: red }';
  const paths = faults(t, { pricing: bad, model: MINI }).map((line) => line.split(':')[0]);
  t.same(paths.sort(), ['pricing.color', 'pricing.creditsPerUsd', 'pricing.markup', 'pricing.unpriced']);
  t.match(
    faults(t, { pricing: '{ creditsPerUsd: 1000000, markup: 1000 }', model: 'upstreamModel: gpt-6-sol' }),
    [/^models\.gpt\.price: .* more than a price can be/],
  );
});

test('a name that the list may take for another model is warned of', async (t) => {
  const { warnings } = load(t, { provider: 'anthropic', model: 'upstreamModel: claude-sonnet-5-5' });
  t.match(warnings, [
    /^models\.gpt has the price of claude-sonnet-5, with which its name claude-sonnet-5-5 begins/,
  ]);
  t.same(load(t, { provider: 'anthropic', model: 'upstreamModel: claude-sonnet-5-20260901' }).warnings, []);
});

test('unpriced: pass is on every model, and warned of', async (t) => {
  const config = load(t, { pricing: '{ unpriced: pass }', model: MINI });
  t.equal(config.catalog.get('gpt')?.unpriced, 'pass');
  t.match(config.warnings, [/^pricing\.unpriced is pass: /]);
  t.equal(gpt(t, { model: MINI }).unpriced, 'refuse');
});

test('the list is not loaded where no upstream names a provider', async (t) => {
  t.equal(load(t, { provider: '', model: 'price: { input: 1 }' }).pricing.version, undefined);
});

const OWN = (prices: unknown, more: object = {}) => [
  { id: 'mine', models: [{ id: 'gpt', match: { equals: 'gpt' }, prices, ...more }] },
];
const LISTED = { pricing: '{ list: list.json }', provider: 'mine' };

test('a newer copy of the list is read from beside the file', async (t) => {
  const list = OWN(
    { input_mtok: 3, output_mtok: { base: 4, tiers: [{ start: 10, price: 5 }] } },
    { context_window: 77 },
  );
  const { catalog, pricing } = load(t, { ...LISTED, list });
  t.same(writtenPrice(catalog.get('gpt')?.price as Model['price']), {
    input: '3.000000',
    output: [{ price: '4.000000' }, { above: 10, price: '5.000000' }],
  });
  t.equal(catalog.get('gpt')?.contextWindow, 77);
  t.match(pricing.version, /^list\.json of \d{4}-\d\d-\d\d$/);
  t.match(pricing.list, /^\/.*\/list\.json$/);
});

test('a copy as its project publishes it: constraints without a type, descriptions, rules of no use here', async (t) => {
  const prices = [
    { prices: { input_mtok: 1 } },
    { constraint: { start_date: '2026-03-13' }, prices: { input_mtok: 2 } },
    { constraint: { type: 'start_date', start_date: '2026-06-01' }, prices: { input_mtok: 3 } },
    { constraint: { start_time: '00:30:00Z', end_time: '16:30:00Z' }, prices: { input_mtok: 2.5 } },
  ];
  const list = [
    {
      ...OWN(prices, { description: 'x', deprecated: true })[0],
      name: 'Mine',
      extractors: [],
      api_pattern: '.',
    },
  ];
  const at = (day: string) => gpt(t, { ...LISTED, list, now: new Date(day) }).price.units.input;
  t.equal(at('2026-01-01'), 2_500_000n);
  t.equal(at('2026-06-01'), 3_000_000n);
});

for (const [what, list, reason] of [
  ['a file that is not there', undefined, /list\.json can't be used: the file does not exist$/],
  ['no JSON', 'prices: {}', /it is not JSON$/],
  ['an object', {}, /the file must be an array$/],
  ['no providers', [], /it has no providers$/],
  ['a provider without models', [{ id: 'mine' }], /mine: models must be an array$/],
  ['a provider twice', [...OWN({ input_mtok: 1 }), ...OWN({ input_mtok: 1 })], /mine occurs twice$/],
  ['a negative price', OWN({ input_mtok: -1 }), /mine: gpt: prices\.input_mtok must be a price/],
  ['a price that is text', OWN({ input_mtok: '1' }), /prices\.input_mtok must be a price/],
  [
    'tiers out of order',
    OWN({
      input_mtok: {
        base: 1,
        tiers: [
          { start: 9, price: 1 },
          { start: 5, price: 2 },
        ],
      },
    }),
    /ascending start$/,
  ],
  [
    'a tier without a start',
    OWN({ input_mtok: { base: 1, tiers: [{ price: 1 }] } }),
    /tiers\[0\] must have a start/,
  ],
  [
    'an unknown constraint',
    OWN([{ constraint: { moon: 'full' }, prices: {} }]),
    /constraint must be a start_date/,
  ],
  [
    'a day that is none',
    OWN([{ constraint: { start_date: '2026-13-45' }, prices: {} }]),
    /constraint must be/,
  ],
  ['no prices at all', OWN([]), /prices must not be empty$/],
  ['an unknown match', OWN({}, { match: { like: 'x' } }), /match must be one of/],
  [
    'a broken expression',
    OWN({}, { match: { or: [{ regex: '(' }] } }),
    /match\.or\[0\]\.regex is not a regular expression$/,
  ],
  ['a context window of text', OWN({}, { context_window: 'large' }), /context_window must be/],
] as const) {
  test(`a list with ${what} is a fault with its path and reason`, async (t) => {
    t.match(faults(t, { ...LISTED, list }), [/^pricing\.list: \/.*\/list\.json can't be used: /]);
    t.match(faults(t, { ...LISTED, list }), [reason]);
  });
}

test('a name that the list has for a price, and nobody here knows, matters to its model alone', async (t) => {
  t.match(faults(t, { ...LISTED, list: OWN({ input_mtok: 1, moon_phases: 2 }) }), [
    /^models\.gpt\.price: .* it has moon_phases, which no unit of ours charges$/,
  ]);
  const others = [
    ...OWN({ input_mtok: 1 }),
    { id: 'other', models: [{ id: 'x', match: { equals: 'x' }, prices: { moon_phases: 2 } }] },
  ];
  t.same(faults(t, { ...LISTED, list: others }), []);
});

test('a list is not half taken: a broken one leaves the configuration as it is', async (t) => {
  const folder = t.testdir({
    'gateway.yaml': `
pricing: { list: list.json }
upstreams: { up: { url: "https://a.example", format: openai, provider: mine } }
models: { gpt: { upstream: up, category: text, maxOutputTokens: 9 }, free: { upstream: up, category: text, free: true } }
`,
    'list.json': JSON.stringify(OWN({ input_mtok: 1 })),
  });
  const read = () => loadConfig({ env: {}, file: `${folder}/gateway.yaml` });
  t.equal(read().catalog.size, 2);
  writeFileSync(`${folder}/list.json`, JSON.stringify([...OWN({ input_mtok: 2 }), { id: 'broken' }]));
  t.throws(read, { message: /pricing\.list: .* broken: models must be an array/ });
});
