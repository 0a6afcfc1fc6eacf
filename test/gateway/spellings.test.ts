import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { test } from 'tap';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { until } from '../helper/check/until.ts';
import { ADMIN_TOKEN, lastCharge, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

test('the SDKs work with a base URL without /v1, with it twice, and with that of OpenRouter', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const account = await world.account();
  for (const base of [world.url, `${world.url}/v1/v1`, `${world.url}/api/v1`]) {
    const client = new OpenAI({ apiKey: account.key, baseURL: base, maxRetries: 0 });
    t.match(await client.chat.completions.create({ model: 'tokens', messages: MESSAGES }), {
      model: 'tokens',
    });
    t.equal((await lastCharge(world, account.accountId)).endpoint, '/v1/chat/completions');
    const names = (await client.models.list()).data.map(({ id }) => id);
    t.ok(names.includes('flat'));
    t.equal((await client.models.retrieve('flat')).id, 'flat');
    const refused = client.responses.create({ model: 'none', input: 'x' });
    await t.rejects(refused, { status: 404, code: 'model_not_found' });
  }
  const client = new Anthropic({ apiKey: account.key, baseURL: `${world.url}/v1`, maxRetries: 0 });
  await client.messages.create({ model: 'claude', max_tokens: 10, messages: MESSAGES });
  t.equal((await lastCharge(world, account.accountId)).endpoint, '/v1/messages');
  t.equal(world.provider.requests.at(-1)?.url, '/v1/messages', 'the provider gets the plain path');
});

test('each endpoint has the same refusals at each spelling, which are recorded and counted as the plain route', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const answerOf = async (path: string, token: string) => {
    const answer = await world.api('POST', path, token, { model: 'none' });
    const headers = ['cache-control', 'x-should-retry', 'x-tollgate-source'].map((name) =>
      answer.headers.get(name),
    );
    return [answer.status, headers, answer.headers.has('request-id'), await answer.json()];
  };
  const refusals = async (path: string) => {
    const metrics = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
    t.notMatch(metrics, /endpoint="\/(?!v1\/(?!v1\/))/);
    const lines = metrics.split('\n').filter((line) => line.startsWith('tollgate_requests_total{'));
    const ofPath = lines.filter((line) => line.includes(`"${path}"`));
    return ofPath.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  for (const { path } of ENDPOINTS) {
    const plain = await answerOf(path, key);
    const before = await refusals(path);
    for (const spelling of [path.slice('/v1'.length), `/v1${path}`, `/v1${path}/`, `/api${path}`]) {
      t.same(await answerOf(spelling, key), plain, spelling);
      t.same(await answerOf(spelling, 'sk-tg-nobody'), await answerOf(path, 'sk-tg-nobody'), spelling);
    }
    t.equal((await refusals(path)) - before, 12, `${path} counts them`);
  }
  const calls = await until('the records', async () => {
    const answer = await world.api('GET', '/api/account/calls/?limit=200', key);
    const page = (await answer.json()) as { calls: { endpoint: string }[] };
    return page.calls.length > 0 && page.calls;
  });
  const plain = new Set<string>(ENDPOINTS.map(({ path }) => path));
  t.same(
    calls.filter(({ endpoint }) => !plain.has(endpoint)),
    [],
  );
});

test('a job is read, downloaded and deleted without /v1 too', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account();
  const made = await world.api('POST', '/videos', account.key, { model: 'film', prompt: 'A fox' });
  const { id } = (await made.json()) as { id: string };
  await world.charged(account);
  for (const base of ['/videos', '/v1/v1/videos']) {
    for (const _ of [1, 2]) t.equal((await world.api('GET', `${base}/${id}`, account.key)).status, 200);
    const content = await world.api('GET', `${base}/${id}/content`, account.key);
    t.equal(content.status, 200);
    await content.arrayBuffer();
  }
  t.equal((await world.api('DELETE', `/videos/${id}`, account.key)).status, 200);
});

test('Codex gets its answers at each spelling of its route', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 0 });
  for (const path of ['/v1/responses', '/responses', '/v1/v1/responses']) {
    const body = { model: 'tokens', input: 'Hello' };
    const answer = await world.api('POST', path, key, body, { originator: 'codex_cli' });
    t.equal(answer.status, 429, path);
    t.match(await answer.json(), { error: { code: 'usage_limit_reached' } });
  }
});

test('with anthropic-version, the list of models has the shape of Anthropic at each spelling', async (t) => {
  const world = await startGatewayInProcess(t);
  for (const path of ['/v1/models', '/models', '/v1/v1/models']) {
    const answer = await world.api('GET', path, 'sk-tg-nobody', undefined, {
      'anthropic-version': '2023-06-01',
    });
    t.match(await answer.json(), { type: 'error', error: { type: 'authentication_error' } }, path);
  }
});

test('what is a path of the page stays one', async (t) => {
  const world = await startGatewayInProcess(t);
  const read = async (path: string) => (await fetch(`${world.url}${path}`)).status;
  t.not(await read('/dashboard/billing/usage'), 401, 'the page needs no key');
  t.equal(await read('/v1/dashboard/billing/usage'), 401);
  t.equal(await read('/v1/v1/dashboard/billing/usage'), 401);
});
