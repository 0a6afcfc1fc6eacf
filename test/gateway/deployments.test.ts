import { AzureOpenAI, toFile } from 'openai';
import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { silentWav, startMediaGateway } from '../helper/start/media-gateway.ts';

const API = { apiVersion: '2024-10-21', maxRetries: 0 };
const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

test('the AzureOpenAI client calls each of its routes by the name of the model', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account();
  const client = new AzureOpenAI({ endpoint: world.url, apiKey: account.key, ...API });
  const audio = async () => await toFile(silentWav(2), 'speech.wav');
  const image = async () => await toFile(Buffer.from('png'), 'cat.png', { type: 'image/png' });
  const calls: readonly (readonly [path: string, model: string, work: () => Promise<unknown>])[] = [
    [
      '/v1/chat/completions',
      'tokens',
      () => client.chat.completions.create({ model: 'tokens', messages: MESSAGES }),
    ],
    ['/v1/completions', 'tokens', () => client.completions.create({ model: 'tokens', prompt: 'Hello' })],
    ['/v1/embeddings', 'tokens', () => client.embeddings.create({ model: 'tokens', input: 'Hello' })],
    [
      '/v1/audio/speech',
      'voice',
      () => client.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hi' }),
    ],
    [
      '/v1/audio/transcriptions',
      'ears',
      async () => client.audio.transcriptions.create({ model: 'ears', file: await audio() }),
    ],
    [
      '/v1/audio/translations',
      'ears',
      async () => client.audio.translations.create({ model: 'ears', file: await audio() }),
    ],
    [
      '/v1/images/generations',
      'picture',
      () => client.images.generate({ model: 'picture', prompt: 'A cat' }),
    ],
    [
      '/v1/images/edits',
      'picture',
      async () => client.images.edit({ model: 'picture', image: await image(), prompt: 'A hat' }),
    ],
  ];
  for (const [path, model, work] of calls) {
    await work();
    const { endpoint, model: charged } = await world.charged(account);
    t.same([endpoint, charged], [path, model]);
    t.equal(world.provider.requests.at(-1)?.url, path, 'nor does api-version go on');
  }
});

test('the address decides the model, whatever the body names, for each target of the model', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const catalog = new Map(world.config.catalog);
  const renamed = catalog.get('renamed');
  if (!renamed) throw new Error('no model');
  const target = (upstreamModel: string) => ({
    model: { ...renamed, upstreamModel },
    weight: 1,
    priority: 1,
  });
  const targets = [target('first'), { ...target('second'), priority: 2 }];
  catalog.set('vendor/name', { ...renamed, slug: 'vendor/name', aliases: ['short'] });
  catalog.set('several', { ...renamed, slug: 'several', upstreamModel: 'first', targets });
  await world.replaceCatalog({ ...world.config, catalog });
  const { key } = await world.account();
  const sent = async (deployment: string, body: object) => {
    const address = `/openai/deployments/${deployment}/chat/completions?api-version=2024-10-21`;
    const answer = await world.api('POST', address, key, body);
    t.equal(answer.status, 200);
    await answer.text();
    return JSON.parse(world.provider.requests.at(-1)?.body.toString() ?? '');
  };
  const messages = MESSAGES;
  for (const deployment of ['vendor/name', 'vendor%2Fname', 'short', 'renamed']) {
    for (const body of [{ messages }, { model: 'no-such-model', messages }, { model: 7, messages }]) {
      t.same(await sent(deployment, body), { model: 'upstream-name', messages }, deployment);
    }
  }
  t.same(await sent('flat', { model: 'flat', messages }), { model: 'flat', messages });
  const below = await world.api('POST', '/v1/openai/deployments/flat/chat/completions', key, { messages });
  t.equal(below.status, 200, 'an endpoint that ends in /v1');
  t.same(await sent('flat', { id: 'mine', messages }), { model: 'flat', messages });
  const first = await sent('several', { messages, stream: true });
  t.match(first, { messages, stream: true, model: /^(?:first|second)$/ });
});

test('a second target gets its own name of a model that only the address has', async (t) => {
  let tries = 0;
  const world = await startGatewayInProcess(t, {
    behave: () => (tries++ === 0 ? { status: 503, body: '{}' } : undefined),
  });
  const catalog = new Map(world.config.catalog);
  const flat = catalog.get('flat');
  if (!flat) throw new Error('no model');
  const target = (upstreamModel: string, priority: number) => ({
    model: { ...flat, upstreamModel },
    weight: 1,
    priority,
  });
  const targets = [target('first', 1), target('second', 2)];
  catalog.set('several', { ...flat, slug: 'several', upstreamModel: 'first', targets });
  await world.replaceCatalog({ ...world.config, catalog });
  const { key } = await world.account();
  const path = '/openai/deployments/several/chat/completions';
  const answer = await world.api('POST', path, key, { messages: MESSAGES, stream: true });
  t.equal(answer.status, 200, await answer.text());
  t.same(
    world.provider.requests.map(({ body }) => JSON.parse(body.toString()).model),
    ['first', 'second'],
  );
});

test('a body that is kept in a file, whose model is in the address alone', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  const messages = [{ role: 'user', content: 'é'.repeat(1_000_000) }];
  for (const body of [{ messages }, { id: 'mine', messages, model: 'none' }]) {
    const answer = await world.api('POST', '/openai/deployments/renamed/chat/completions', key, body);
    t.equal(answer.status, 200);
    await answer.text();
    const sent = JSON.parse(world.provider.requests.at(-1)?.body.toString() ?? '');
    t.same({ ...sent, messages: sent.messages.length }, { model: 'upstream-name', messages: 1 });
    t.equal(sent.messages[0].content, messages[0]?.content);
  }
});

test('a form whose model is in the address alone', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account();
  const form = new FormData();
  form.append('file', new Blob([silentWav(2)]), 'speech.wav');
  const path = '/openai/deployments/ears-renamed/audio/transcriptions?api-version=1';
  const answer = await world.post(account.key, path, form);
  t.equal(answer.status, 200, await answer.text());
  t.equal((await world.charged(account)).model, 'ears-renamed');
  const { body } = world.provider.requests.at(-1) ?? {};
  t.match(body?.toString(), /name="model"\r\n\r\n\S/);
});

test('refusals of deployments are those of the plain route, and are recorded under it', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const call = (path: string, token: string) =>
    world.api('POST', `/openai/deployments/${path}?api-version=1`, token, { messages: MESSAGES });
  for (const [path, token, status, code] of [
    ['flat/chat/completions', 'sk-tg-nobody', 401, 'invalid_api_key'],
    ['no-such-model/chat/completions', key, 404, 'model_not_found'],
    ['/chat/completions', key, 400, 'model_required'],
    ['claude/chat/completions', key, 400, 'endpoint_mismatch'],
    ['flat/responses', key, 404, 'unknown_endpoint'],
    ['flat', key, 404, 'unknown_endpoint'],
  ] as const) {
    const answer = await call(path, token);
    t.equal(answer.status, status, path);
    t.equal(answer.headers.get('cache-control'), 'no-store');
    t.match(await answer.json(), { error: { code } }, path);
  }
  const { calls } = await until('the record', async () => {
    const answer = await world.api('GET', '/api/account/calls/?code=model_not_found', key);
    const page = (await answer.json()) as { calls: { model: string; endpoint: string }[] };
    return page.calls.length > 0 && page;
  });
  t.match(calls, [{ model: 'no-such-model', endpoint: '/v1/chat/completions' }]);
});
