import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  type InProcessGateway,
  startGatewayInProcess,
  testCatalog,
  testConfig,
  UNPRICED_PASSES,
} from '../helper/start/gateway-in-process.ts';

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 };
const HI = [{ role: 'user', content: 'Hello' }];

const post = (world: InProcessGateway, key: string, path: string, body: object) =>
  world.api('POST', path, key, body);

async function refusal(response: Response): Promise<unknown[]> {
  const { error } = (await response.json()) as { error: { code: string; param: string; type: string } };
  return [response.status, error.code, error.param, error.type, response.headers.get('x-should-retry')];
}

test('a field without a price is refused in both formats, and nothing reaches the provider', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, accountId } = await world.account();
  const unpriced = (param: string) => [400, 'unpriced_parameter', param, 'invalid_request_error', 'false'];
  const chat = { model: 'tokens', messages: HI };
  const message = { model: 'claude', messages: HI, max_tokens: 10 };
  for (const [path, body, param] of [
    ['/v1/chat/completions', { ...chat, service_tier: 'priority' }, 'service_tier'],
    ['/v1/chat/completions', { ...chat, web_search_options: {} }, 'web_search_options'],
    ['/v1/responses', { model: 'tokens', input: 'a', tools: [{ type: 'web_search' }] }, 'tools'],
    ['/v1/responses', { model: 'tokens', input: 'a', tools: [{ type: 'web_search_preview' }] }, 'tools'],
    ['/v1/messages', { ...message, tools: [SEARCH] }, 'tools'],
    ['/v1/messages', { ...message, speed: 'fast' }, 'speed'],
    ['/v1/messages', { ...message, cache_control: { type: 'ephemeral', ttl: '1h' } }, 'cache_control'],
  ] as const) {
    t.same(await refusal(await post(world, key, path, body)), unpriced(param), `${path} ${param}`);
  }
  const { message: words } = (
    (await (await post(world, key, '/v1/messages', { ...message, tools: [SEARCH] })).json()) as {
      error: { message: string };
    }
  ).error;
  t.match(words, /The model claude has no price for web searches.*price\.webSearch/);
  t.equal(world.provider.requests.length, 0);
  t.match(await world.ledger.ledger.account(accountId), { balance: 1_000_000_000, held: 0 });
});

// Cline sends it in every request if its provider is OpenAI itself.
test('a tool that a client always sends is refused with the ways of its user and of the operator', async (t) => {
  const body = { model: 'tokens', input: 'a', tools: [{ type: 'image_generation' }] };
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  const response = await post(world, key, '/v1/responses', body);
  t.equal(response.status, 400);
  t.match(await response.json(), {
    error: {
      code: 'unpriced_parameter',
      message: /set its provider to "OpenAI Compatible", or have the operator set pricing\.unpriced: pass\.$/,
    },
  });
  t.equal(world.provider.requests.length, 0);
  const passing = await startGatewayInProcess(t, { config: { pricing: UNPRICED_PASSES } });
  const owner = await passing.account();
  t.equal((await post(passing, owner.key, '/v1/responses', body)).status, 200);
});

test('a field of two names is not read in two ways', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const body of [
    '{"model":"tokens","messages":[],"Service_tier":"priority"}',
    '{"model":"tokens","messages":[],"service_tier":"default","service_tier":"priority"}',
    '{"model":"tokens","messages":[],"MODELS":["other"]}',
  ]) {
    t.equal((await world.api('POST', '/v1/chat/completions', key, body)).status, 400, body);
  }
  const hidden = '{"model":"tokens","input":[{"type":"additional_tools","tools":[{"Type":"web_search"}]}]}';
  t.equal((await world.api('POST', '/v1/responses', key, hidden)).status, 400);
});

test('pricing.unpriced: pass lets it through at the plain price', async (t) => {
  const config = testConfig('unused', 'http://127.0.0.1').pricing;
  const world = await startGatewayInProcess(t, { config: { pricing: { ...config, unpriced: 'pass' } } });
  const { key } = await world.account();
  const response = await world.chat(key, { service_tier: 'priority', web_search_options: {} });
  t.equal(response.status, 200);
  t.equal(response.headers.get('x-tollgate-charge'), '1.000000');
  const other = await world.chat(key, { models: ['tokens'] });
  t.same((await refusal(other)).slice(0, 3), [400, 'invalid_field', 'models'], 'another model never answers');
});

test('a tier with a multiplier is charged as reported, else as requested', async (t) => {
  const answer = { reported: undefined as string | undefined };
  const provider = await startScriptedProvider({
    behave: () => ({
      body: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }],
        usage: { prompt_tokens: 1_000, completion_tokens: 1_000 },
        ...(answer.reported ? { service_tier: answer.reported } : {}),
      },
    }),
  });
  t.teardown(() => provider.close());
  const catalog = new Map(testCatalog(provider.url));
  const price = creditPrice({ input: 1_000, output: 2_000 }, { priority: 2 });
  catalog.set('tiered', { ...(catalog.get('tokens') as Model), slug: 'tiered', price });
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  const { key } = await world.account();
  const charge = async (body: object) => {
    const response = await world.chat(key, { model: 'tiered', max_tokens: 1_000, ...body });
    await response.text();
    return response.headers.get('x-tollgate-charge');
  };
  t.equal(await charge({ service_tier: 'priority' }), '6.000000');
  t.equal(await charge({ service_tier: 'default' }), '3.000000');
  answer.reported = 'default';
  t.equal(await charge({ service_tier: 'priority' }), '3.000000');
});
