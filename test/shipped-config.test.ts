import { test } from 'tap';
import { startWarnings } from '../src/config/catalog.ts';
import { loadConfig } from '../src/config/load.ts';
import { packagedList } from '../src/config/price-list/price-list.ts';
import { CATEGORIES } from '../src/domain/key.ts';
import { isPriced } from '../src/domain/price.ts';
import { KEY, load, SMALL } from './helper/fixtures/config-file.ts';

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
  const { unconfigured } = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  t.match(unconfigured, [
    { upstream: 'openai', variables: ['OPENAI_API_KEY'] },
    { upstream: 'anthropic', variables: ['ANTHROPIC_API_KEY'] },
    { upstream: 'videos', variables: ['VIDEOS_URL', 'VIDEOS_API_KEY'] },
  ]);
  const models = unconfigured.flatMap((one) => one.models);
  t.same(new Set(models.map(({ category }) => category)), new Set(CATEGORIES));
  const free = models.filter(({ price }) => !isPriced(price)).map(({ slug }) => slug);
  t.same(free, ['omni-moderation-latest']);
});

test('every shipped model whose output has a price says how long it can be', async (t) => {
  const env = { ...KEY, ANTHROPIC_API_KEY: 'b', VIDEOS_URL: 'https://videos.example', VIDEOS_API_KEY: 'c' };
  t.same(loadConfig({ env, file: 'config/gateway.yaml' }).warnings, []);
});

test('the shipped file states the defaults', async (t) => {
  const shipped = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  const { server, accounts, alerts, origins, limits, pricing } = load(t, SMALL);
  t.same(shipped.accounts, accounts);
  t.same(
    { server: shipped.server, alerts: shipped.alerts, origins: shipped.origins, limits: shipped.limits },
    { server, alerts, origins, limits },
  );
  t.same({ ...shipped.pricing, version: undefined }, pricing);
});

test('the shipped file has the models of both providers when their keys are set', async (t) => {
  const env = { ...KEY, ANTHROPIC_API_KEY: 'sk-ant' };
  const config = loadConfig({ env, file: 'config/gateway.yaml' });
  t.equal(config.catalog.get('gpt-4o-mini')?.price.units.cachedInput, 75_000n);
  t.equal(config.catalog.get('claude-sonnet-5-5')?.upstream.format, 'anthropic');
  t.match(config.unconfigured, [{ upstream: 'videos' }]);
});

test('the demo upstream needs no key', async (t) => {
  const config = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  t.match(config.upstreams.get('demo'), { url: 'demo', format: 'openai' });
  t.match(config.upstreams.get('demo-anthropic'), { url: 'demo', format: 'anthropic' });
});

test('models from gpt-5.6 on have cache writes at 1.25 times their input, as OpenAI bills them', async (t) => {
  const { catalog } = loadConfig({ env: KEY, file: 'config/gateway.yaml' });
  const models = [...catalog.values()].filter(({ slug }) => /^gpt-(5\.6|6)/.test(slug));
  t.equal(models.length, 10);
  for (const { slug, price } of models) t.equal(price.units.cacheWrite * 4n, price.units.input * 5n, slug);
});

test('a first start says in one short line which models need which variable', async (t) => {
  const lines = startWarnings(loadConfig({ env: {}, file: 'config/gateway.yaml' }));
  t.equal(lines.length, 1);
  t.match(
    lines[0],
    /^left out until they are set: OPENAI_API_KEY \(openai, \d+ models\), ANTHROPIC_API_KEY /,
  );
  t.match(lines[0], / VIDEOS_URL and VIDEOS_API_KEY \(videos, 2 models\)/);
  t.ok((lines[0] ?? '').length < 200);
});

test('shipped aliases are the dated names that the price list has for the same model', async (t) => {
  const env = { ...KEY, ANTHROPIC_API_KEY: 'sk-ant' };
  const { catalog } = loadConfig({ env, file: 'config/gateway.yaml' });
  const list = packagedList();
  const named = [...catalog.values()].flatMap((model) =>
    (model.aliases ?? []).map((alias) => ({ model, alias })),
  );
  t.ok(named.length > 10);
  for (const { model, alias } of named) {
    t.match(alias, new RegExp(`^${model.slug}-(\\d{8}|\\d{4}-\\d\\d-\\d\\d)$`));
    const provider = list.provider(model.upstream.provider ?? '');
    const found = provider && list.model(provider, alias);
    t.ok(found, alias);
    t.equal(found, provider && list.model(provider, model.slug), alias);
  }
});
