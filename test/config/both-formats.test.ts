import { type Test, test } from 'tap';
import { configChanges } from '../../src/config/changes.ts';
import { PRESETS, type Preset } from '../../src/config/presets.ts';
import { type Model, modelIn, targetName, type Upstream, type WireFormat } from '../../src/domain/catalog.ts';
import { addressOf } from '../../src/gateway/upstream/address.ts';
import { upstreamHeaders } from '../../src/gateway/upstream/headers.ts';
import { faults, load } from '../helper/fixtures/config-file.ts';

const MODEL = 'category: text, maxOutputTokens: 10, price: { input: 1 }';
const ENV = { GOOGLE_CLOUD_LOCATION: 'x', GOOGLE_CLOUD_PROJECT: 'x', AWS_REGION: 'eu-west-1' };

const yaml = (upstream: string, model = MODEL) =>
  `upstreams: { u: { ${upstream} } }\nmodels: { m: { upstream: u, upstreamModel: its-name, ${model} } }\n`;
const loaded = (t: Test, upstream: string, model = MODEL) =>
  load(t, yaml(upstream, model), ENV).catalog.get('m') as Model;

/** Where a call in a format goes, and with which credential; undefined: the model is not served in it. */
function served(model: Model, format: WireFormat) {
  const place = modelIn(model, format);
  if (!place) return undefined;
  const path = format === 'openai' ? '/v1/chat/completions' : '/v1/messages';
  const { origin, path: at } = addressOf(place.upstream, path, place.upstreamModel);
  return { at: origin + at, sent: upstreamHeaders(undefined, place.upstream).slice(2).join(': ') };
}

/** Where each provider documents Anthropic's format, and how it takes the credential there. */
const DOCUMENTED: Readonly<Record<string, readonly [string, string]>> = {
  azure: ['https://r.example/anthropic/v1/messages', 'x-api-key: k'],
  bedrock: [
    'https://bedrock-runtime.eu-west-1.amazonaws.com/anthropic/v1/messages',
    'authorization: Bearer k',
  ],
  deepseek: ['https://api.deepseek.com/anthropic/v1/messages', 'x-api-key: k'],
  openrouter: ['https://openrouter.ai/api/v1/messages', 'authorization: Bearer k'],
  fireworks: ['https://api.fireworks.ai/inference/v1/messages', 'authorization: Bearer k'],
  moonshot: ['https://api.moonshot.ai/anthropic/v1/messages', 'authorization: Bearer k'],
  zai: ['https://api.z.ai/api/anthropic/v1/messages', 'authorization: Bearer k'],
  minimax: ['https://api.minimax.io/anthropic/v1/messages', 'authorization: Bearer k'],
  qwen: ['https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages', 'x-api-key: k'],
  ollama: ['http://127.0.0.1:11434/v1/messages', 'authorization: Bearer k'],
  vllm: ['http://127.0.0.1:8000/v1/messages', 'authorization: Bearer k'],
  lmstudio: ['http://127.0.0.1:1234/v1/messages', 'x-api-key: k'],
  llamacpp: ['http://127.0.0.1:8080/v1/messages', 'authorization: Bearer k'],
};

test('a provider with both formats serves a model in both, each where it is documented', async (t) => {
  for (const [name, preset] of Object.entries<Preset>(PRESETS)) {
    const model = loaded(t, `provider: ${name}, ${preset.url ? '' : 'url: "https://r.example", '}apiKey: k`);
    const [at, sent] = DOCUMENTED[name] ?? [];
    const second = name === 'anthropic' ? undefined : served(model, 'anthropic');
    t.same(second, at === undefined ? undefined : { at, sent }, name);
    t.equal(served(model, 'openai') !== undefined, name !== 'anthropic', name);
  }
});

test('at its own url, both formats of a provider are there, and messagesUrl overrides the second alone', async (t) => {
  const at = (upstream: string) => {
    const model = loaded(t, `${upstream}, apiKey: k`);
    return [served(model, 'openai')?.at, served(model, 'anthropic')?.at];
  };
  t.same(at('provider: deepseek, url: "http://h/x"'), [
    'http://h/x/v1/chat/completions',
    'http://h/x/v1/messages',
  ]);
  t.same(at('provider: openrouter, url: "http://h"'), [
    'http://h/api/v1/chat/completions',
    'http://h/api/v1/messages',
  ]);
  for (const end of ['', '/', '/v1', '/v1/']) {
    t.same(at(`provider: deepseek, messagesUrl: "http://m/a${end}"`), [
      'https://api.deepseek.com/v1/chat/completions',
      'http://m/a/v1/messages',
    ]);
    t.same(at(`url: "http://h", path: /p, format: openai, messagesUrl: "http://m/a${end}"`), [
      'http://h/p/chat/completions',
      'http://m/a/v1/messages',
    ]);
  }
  t.same(at('provider: openrouter, messagesUrl: "http://m"'), [
    'https://openrouter.ai/api/v1/chat/completions',
    'http://m/v1/messages',
  ]);
});

test('a format that is written is the only one, at the address that the provider has for it', async (t) => {
  const only = (upstream: string) => {
    const model = loaded(t, upstream);
    return [served(model, 'openai'), served(model, 'anthropic')];
  };
  t.same(only('provider: zai, format: openai, apiKey: k'), [
    { at: 'https://api.z.ai/api/paas/v4/chat/completions', sent: 'authorization: Bearer k' },
    undefined,
  ]);
  t.same(only('provider: zai, format: anthropic, apiKey: k'), [
    undefined,
    { at: 'https://api.z.ai/api/anthropic/v1/messages', sent: 'authorization: Bearer k' },
  ]);
  t.same(only('provider: azure, url: "https://r.example", format: anthropic, apiKey: k'), [
    undefined,
    { at: 'https://r.example/anthropic/v1/messages', sent: 'x-api-key: k' },
  ]);
});

test('auth that is written is for both formats, else each has its own', async (t) => {
  const sent = (upstream: string) => {
    const model = loaded(t, upstream);
    return [served(model, 'openai')?.sent, served(model, 'anthropic')?.sent];
  };
  const both = 'url: "http://h", format: openai, messagesUrl: "http://m", apiKey: k';
  t.same(sent(both), ['authorization: Bearer k', 'x-api-key: k']);
  t.same(sent(`${both}, auth: bearer`), ['authorization: Bearer k', 'authorization: Bearer k']);
  const azure = 'provider: azure, url: "http://h", apiKey: k';
  t.same(sent(azure), ['api-key: k', 'x-api-key: k']);
  t.same(sent(`${azure}, auth: bearer`), ['authorization: Bearer k', 'authorization: Bearer k']);
});

test("messagesUrl is refused where the format is Anthropic's already, and where it is no address", async (t) => {
  const already =
    "upstreams.u.messagesUrl: must not be set, because the upstream's format is anthropic already";
  t.same(faults(t, yaml('url: "http://h", format: anthropic, messagesUrl: "http://m"'), ENV), [already]);
  t.same(faults(t, yaml('provider: anthropic, messagesUrl: "http://m", apiKey: k'), ENV), [already]);
  t.match(faults(t, yaml('provider: deepseek, messagesUrl: "m?x=1", apiKey: k'), ENV), [
    /^upstreams\.u\.messagesUrl: must be an http:\/\/ or https:\/\/ URL/,
  ]);
  t.same(faults(t, yaml('url: "http://h", messagesUrl: "http://m"'), ENV), [
    'upstreams.u.format: is missing',
  ]);
});

test('targets may differ in format: each format has its own, in the order of the file, at one price', async (t) => {
  const file = `upstreams:
  both: { provider: deepseek, apiKeys: [a, b] }
  gpt: { provider: openai, apiKey: c }
  claude: { provider: anthropic, apiKey: d }
models:
  m: { targets: [{ upstream: gpt, priority: 2 }, { upstream: both }, { upstream: claude, upstreamModel: c }], ${MODEL} }
  picture: { upstream: both, category: image, price: { image: 1 } }
`;
  const { catalog, upstreams } = load(t, file);
  const places = (model: Model | undefined) =>
    (model?.targets ?? []).map((target) => {
      const { upstream, upstreamModel, price } = target.model;
      return [targetName(upstream), upstream.format, upstreamModel, target.priority, price.units.input];
    });
  const model = catalog.get('m') as Model;
  const openai = [
    ['gpt', 'openai', 'm', 2, 1_000_000n],
    ['both', 'openai', 'm', 1, 1_000_000n],
    ['both#2', 'openai', 'm', 1, 1_000_000n],
  ];
  const anthropic = [
    ['both', 'anthropic', 'm', 1, 1_000_000n],
    ['both#2', 'anthropic', 'm', 1, 1_000_000n],
    ['claude', 'anthropic', 'c', 1, 1_000_000n],
  ];
  t.same(places(modelIn(model, 'openai')), openai);
  t.same(places(modelIn(model, 'anthropic')), anthropic);
  t.equal(model.targets?.length, openai.length + anthropic.length);
  t.equal(modelIn(model, 'openai')?.maxOutputTokens, 10);
  const { apiKey, messages } = upstreams.get('both') as Upstream;
  t.same([apiKey, messages], ['a', { url: 'https://api.deepseek.com/anthropic' }]);
  const picture = catalog.get('picture') as Model;
  t.equal(modelIn(picture, 'anthropic'), undefined, 'which has no endpoint for pictures');
  t.equal(picture.targets?.length, 2, 'one for each credential');
});

test('a reload names a changed messagesUrl, and each changed price once', async (t) => {
  const of = (url: string, input: number) =>
    load(t, yaml(`provider: deepseek, messagesUrl: "${url}", apiKey: k`, MODEL.replace('1 }', `${input} }`)));
  const changes = configChanges(of('http://one', 1), of('http://two', 2));
  t.same(changes.upstreams, { u: ['messages'] });
  const lines = changes.changed.m ?? [];
  t.same(
    lines.filter((line) => line.includes('price.input:')),
    ['price.input: 1.000000 -> 2.000000'],
  );
});
