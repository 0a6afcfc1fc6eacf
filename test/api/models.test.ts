import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import type { ModelListView } from '../../src/api/models/model-view.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const { key } = await world.account();
const ALL = [...world.config.catalog.keys()];

const list = async (query: string) => {
  const response = await world.api('GET', `/v1/models${query}`, key);
  t.equal(response.status, 200, query);
  const { data, ...page } = (await response.json()) as ModelListView;
  return { ids: data.map(({ id }) => id), ...page };
};

t.test('a model has the fields of OpenAI, Anthropic and OpenRouter together', async (t) => {
  const expected = {
    id: 'tokens',
    object: 'model',
    created: 0,
    type: 'model',
    display_name: 'tokens',
    created_at: '1970-01-01T00:00:00Z',
    context_length: null,
    max_output_tokens: 1_000,
    price: { input: 1_000, cachedInput: 500, output: 2_000 },
    pricing: { prompt: '0.001', completion: '0.002', input_cache_read: '0.0005' },
  };
  t.match(await (await world.api('GET', '/v1/models/tokens', key)).json(), expected);
  const all = (await (await world.api('GET', '/v1/models', key)).json()) as ModelListView;
  t.match(
    all.data.find(({ id }) => id === 'tokens'),
    expected,
  );
  t.same(all.data.find(({ id }) => id === 'flat')?.pricing, { prompt: '0', completion: '0', request: '1' });
  t.same(all.data.find(({ id }) => id === 'picture')?.pricing, {
    prompt: '0',
    completion: '0',
    image_output: '1',
  });
});

t.test('pages go forwards and backwards', async (t) => {
  const [first = '', second = '', third = '', fourth = ''] = ALL;
  const whole = { object: 'list', has_more: false, first_id: first, last_id: ALL.at(-1) };
  t.same(await list(''), { ids: ALL, ...whole });
  t.same(await list('?limit=1000'), { ids: ALL, ...whole });
  t.same(await list('?limit=2'), {
    ids: [first, second],
    object: 'list',
    has_more: true,
    first_id: first,
    last_id: second,
  });
  t.match(await list(`?limit=2&after_id=${second}`), { ids: [third, fourth], has_more: ALL.length > 4 });
  t.match(await list(`?limit=2&before_id=${fourth}`), {
    ids: [second, third],
    has_more: true,
    first_id: second,
  });
  t.match(await list(`?limit=2&before_id=${second}`), { ids: [first], has_more: false });
  t.match(await list(`?before_id=${third}`), { ids: [first, second], has_more: false });
  t.same(await list(`?after_id=${ALL.at(-1)}`), {
    ids: [],
    object: 'list',
    has_more: false,
    first_id: null,
    last_id: null,
  });
  t.match(await list('?client_version=1.0&limit=1'), { ids: [first] }, 'a parameter of a client');
  for (const wrong of [
    'limit=0',
    'limit=x',
    'limit=1001',
    'after_id=nope',
    'before_id=nope',
    'limit=1&limit=2',
  ]) {
    const refused = await world.api('GET', `/v1/models?${wrong}`, key);
    t.match(
      [refused.status, await refused.json()],
      [400, { error: { code: 'invalid_field', param: wrong.split('=')[0] } }],
      wrong,
    );
  }
});

t.test('the SDKs page through the list and read a model', async (t) => {
  const anthropic = new Anthropic({ apiKey: key, baseURL: world.url });
  const seen: string[] = [];
  for await (const model of anthropic.models.list({ limit: 2 })) {
    t.match(model, { type: 'model', display_name: model.id, created_at: String });
    seen.push(model.id);
  }
  t.same(seen, ALL);
  const back: string[] = [];
  for await (const { id } of anthropic.models.list({ limit: 2, before_id: ALL.at(-1) as string }))
    back.push(id);
  t.same(back.sort(), ALL.slice(0, -1).sort());
  t.equal((await anthropic.models.retrieve('claude')).display_name, 'claude');
  const openai = new OpenAI({ apiKey: key, baseURL: `${world.url}/v1` });
  const listed = [];
  for await (const { id } of openai.models.list()) listed.push(id);
  t.same(listed, ALL);
  t.equal((await openai.models.retrieve('tokens')).owned_by, 'test');
});

t.test('errors have Anthropic’s shape where its client asks', async (t) => {
  const version = { 'anthropic-version': '2023-06-01' };
  for (const path of ['/v1/models/nope', '/v1/models?limit=0']) {
    const refused = await world.api('GET', path, key, undefined, version);
    t.ok(refused.headers.get('request-id'));
    t.match(
      await refused.json(),
      { type: 'error', error: { type: String, message: String, code: String } },
      path,
    );
    const plain = await world.api('GET', path, key);
    t.equal(plain.headers.get('request-id'), null);
    t.notOk('type' in ((await plain.json()) as object));
  }
  const nobody = await world.api('GET', '/v1/models/claude', 'sk-tg-nobody', undefined, version);
  t.equal(nobody.status, 401);
  t.match(await nobody.json(), {
    type: 'error',
    error: { type: 'authentication_error', code: 'invalid_api_key' },
  });
  const anthropic = new Anthropic({ apiKey: key, baseURL: world.url });
  const thrown: unknown = await anthropic.models.retrieve('nope').catch((error: unknown) => error);
  t.match(thrown, {
    status: 404,
    error: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
  });
});
