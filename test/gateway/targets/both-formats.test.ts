import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Test, test } from 'tap';
import type { ProviderListView } from '../../../src/api/operator/providers-view.ts';
import { load } from '../../helper/fixtures/config-file.ts';
import { type Behavior, startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, lastCharge, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const MODEL = 'category: text, maxOutputTokens: 100, price: { input: 1000, output: 2000, request: 1 }';
const HELLO = [{ role: 'user' as const, content: 'Say hello' }];
const BUSY = { status: 503, body: { error: { message: 'busy' } } };
const REFUSED = { status: 401, body: { error: { message: 'no such key' } } };

let started = 0;

/**
 * A gateway with a provider of both formats at two addresses, below `/chat` and `/claude`, a second one with both at one
 * address, and providers of one format. A behavior is that of a path's first part.
 */
async function startBoth(t: Test) {
  const behaviors = new Map<string, Behavior>();
  const provider = await startScriptedProvider({
    // The demo knows no prefix: it gets the path after it.
    behave: (request) => {
      const [, place = '', rest = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url) ?? [];
      Object.assign(request, { url: rest });
      asked.push(`${place}${rest} ${(JSON.parse(request.body.toString()) as { model: string }).model}`);
      sent.push(request.headers);
      return behaviors.get(place);
    },
  });
  const asked: string[] = [];
  const sent: Record<string, unknown>[] = [];
  t.teardown(() => provider.close());
  const at = (place: string) => `"${provider.url}/${place}"`;
  // A gateway keeps the health of a slug's targets, and tests share one.
  const test = `-${started++}`;
  const yaml = `upstreams:
  both: { provider: deepseek, url: ${at('chat')}, messagesUrl: ${at('claude')}, apiKey: secret-of-both }
  local: { provider: vllm, url: ${at('local')} }
  gpt: { url: ${at('gpt')}, format: openai, apiKey: secret-of-gpt }
  claude: { url: ${at('other')}, format: anthropic, apiKey: secret-of-claude }
models:
  one${test}: { upstream: both, upstreamModel: its-name, aliases: [one], ${MODEL} }
  same${test}: { targets: [{ upstream: local }, { upstream: gpt, priority: 2 }, { upstream: claude, priority: 2 }], aliases: [same], ${MODEL} }
  spread${test}: { targets: [{ upstream: both }, { upstream: gpt, priority: 2 }, { upstream: claude, priority: 3 }], aliases: [spread], ${MODEL} }
  only${test}: { upstream: gpt, aliases: [only], ${MODEL} }
`;
  const { catalog, upstreams } = load(t, yaml, {});
  const world = await startGatewayInProcess(t, { provider, config: { catalog, upstreams } });
  const owner = await world.account({ key: { canManage: true } });
  const chat = (model: string) =>
    world.api('POST', '/v1/chat/completions', owner.key, { model, messages: HELLO });
  const messages = (model: string) =>
    world.api('POST', '/v1/messages', owner.key, { model, messages: HELLO, max_tokens: 50 });
  return {
    ...world,
    ...owner,
    asked,
    sent,
    chat,
    messages,
    slugOf: (model: string) => `${model}${test}`,
    behave: (place: string, behavior?: Behavior) =>
      behavior ? behaviors.set(place, behavior) : behaviors.delete(place),
    charge: () => lastCharge(world, owner.accountId),
    /** Sends a call three times, which puts its failing targets out. */
    thrice: async (send: () => Promise<Response>) => {
      for (const _ of [1, 2, 3]) await (await send()).text();
    },
  };
}

test('both official SDKs call one model, whole and as a stream, at one price and one row a call', async (t) => {
  const world = await startBoth(t);
  const { key, url, asked, sent } = world;
  const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
  const paid = async (endpoint: string, credits: number) =>
    t.match(await world.charge(), {
      endpoint,
      credits,
      model: world.slugOf('one'),
      upstream: 'both',
      estimated: false,
      outcome: 'complete',
      attempts: undefined,
    });

  const answer = await openai.chat.completions.create({ model: 'one', messages: HELLO });
  t.match(answer.choices[0]?.message.content, /Say hello/);
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = answer.usage ?? {};
  const cost = -(1_000_000 + input * 1_000 + output * 2_000);
  await paid('/v1/chat/completions', cost);

  const chunks = await openai.chat.completions.create({ model: 'one', messages: HELLO, stream: true });
  let text = '';
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? '';
  t.equal(text, answer.choices[0]?.message.content);
  await paid('/v1/chat/completions', cost);

  const message = await anthropic.messages.create({ model: 'one', messages: HELLO, max_tokens: 50 });
  t.match(message.content[0], { type: 'text', text: /Say hello/ });
  const { input_tokens, output_tokens } = message.usage;
  const messageCost = -(1_000_000 + input_tokens * 1_000 + output_tokens * 2_000);
  await paid('/v1/messages', messageCost);

  const stream = anthropic.messages.stream({ model: 'one', messages: HELLO, max_tokens: 50 });
  t.same((await stream.finalMessage()).content, message.content);
  await paid('/v1/messages', messageCost);

  const counted = await anthropic.messages.countTokens({ model: 'one', messages: HELLO });
  t.equal(counted.input_tokens, input_tokens);

  t.same(asked, [
    'chat/v1/chat/completions its-name',
    'chat/v1/chat/completions its-name',
    'claude/v1/messages its-name',
    'claude/v1/messages its-name',
    'claude/v1/messages/count_tokens its-name',
  ]);
  const credentials = sent.map((headers) => [headers.authorization, headers['x-api-key']]);
  t.same(credentials[0], ['Bearer secret-of-both', undefined]);
  t.same(credentials[2], [undefined, 'secret-of-both']);
  t.same(credentials[4], [undefined, 'secret-of-both']);
});

test('GET /v1/models lists the endpoints of both formats', async (t) => {
  const world = await startBoth(t);
  const model = async (name: string) => {
    const response = await world.api('GET', `/v1/models/${name}`, world.key);
    return (await response.json()) as { endpoints: string[] };
  };
  const openai = (await model('only')).endpoints;
  t.ok(openai.includes('/v1/chat/completions') && !openai.includes('/v1/messages'));
  t.same(
    (await model('one')).endpoints.toSorted(),
    [...openai, '/v1/messages', '/v1/messages/count_tokens'].toSorted(),
  );
});

test('a call is handed over among the targets of its format', async (t) => {
  const world = await startBoth(t);
  const attempts = async () => (await world.charge()).attempts?.map(({ target }) => target);
  world.behave('chat', BUSY);
  world.behave('claude', BUSY);
  t.equal((await world.chat('spread')).status, 200);
  t.same(await attempts(), ['both', 'gpt']);
  t.equal((await world.messages('spread')).status, 200);
  t.same(await attempts(), ['both', 'claude']);
  world.behave('other', BUSY);
  t.equal((await world.messages('spread')).status, 503, 'and not to gpt, which takes no messages');
  t.same(await attempts(), ['both', 'claude']);
});

test('a model that is not served at an endpoint gets 400, which names those where it is', async (t) => {
  const world = await startBoth(t);
  const refused = await world.messages('only');
  t.equal(refused.status, 400);
  const { error } = (await refused.json()) as { error: { code?: string; message: string } };
  t.match(error.message, /can't be called at \/v1\/messages\. Call it at \/v1\/chat\/completions, .* or /);
  const image = await world.api('POST', '/v1/images/generations', world.key, { model: 'one', prompt: 'x' });
  t.match(await image.json(), {
    error: {
      code: 'endpoint_mismatch',
      message: /\/v1\/chat\/completions.* or \/v1\/messages\/count_tokens\./,
    },
  });
  t.same(world.asked, []);
});

/** A model at a provider, as the operator sees it. */
async function stateOf(
  { api, slugOf }: Awaited<ReturnType<typeof startBoth>>,
  model: string,
  place = 'both',
) {
  const response = await api('GET', '/api/admin/providers/', ADMIN_TOKEN);
  const { providers } = (await response.json()) as ProviderListView;
  const found = providers
    .find(({ name }) => name === place)
    ?.targets.filter((target) => target.model === slugOf(model));
  return found?.length === 1 ? found[0] : undefined;
}

test('a target that fails at one of its addresses is out there alone', async (t) => {
  const world = await startBoth(t);
  t.match(await stateOf(world, 'spread'), { state: 'up', formats: ['openai', 'anthropic'], formats_out: [] });
  world.behave('claude', { ...BUSY, headers: { 'retry-after': '50' } });
  await world.thrice(() => world.messages('spread'));
  t.match(await stateOf(world, 'spread'), { state: 'out', cause: 'error', formats_out: ['anthropic'] });
  t.equal((await world.chat('spread')).status, 200);
  t.match(await world.charge(), { upstream: 'both', attempts: undefined });
  world.asked.length = 0;
  t.equal((await world.messages('spread')).status, 200);
  t.same(world.asked, [`other/v1/messages ${world.slugOf('spread')}`]);
  const page = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  const label = `target="both",model="${world.slugOf('spread')}"`;
  t.match(page, `tollgate_target_out{${label},cause="error"} 1`);
  t.notMatch(page, `tollgate_target_out{${label},cause=""}`);
  t.match(page, `tollgate_target_calls_total{${label}} 4`);
});

test('a target with both formats at one address is out in both', async (t) => {
  const world = await startBoth(t);
  world.behave('local', { ...BUSY, headers: { 'retry-after': '50' } });
  await world.thrice(() => world.chat('same'));
  t.match(await stateOf(world, 'same', 'local'), { state: 'out', formats_out: ['openai', 'anthropic'] });
  world.asked.length = 0;
  t.equal((await world.messages('same')).status, 200);
  t.same(world.asked, [`other/v1/messages ${world.slugOf('same')}`]);
});

test('a credential that one address refuses is out for the model at both, and no other model', async (t) => {
  for (const [place, first, second] of [
    ['chat', 'chat', 'messages'],
    ['claude', 'messages', 'chat'],
  ] as const) {
    const world = await startBoth(t);
    world.behave(place, REFUSED);
    t.equal((await world[first]('spread')).status, 200);
    world.behave(place);
    world.asked.length = 0;
    t.equal((await world[second]('spread')).status, 200);
    t.notMatch(await world.charge(), { upstream: 'both' }, `${place} refuses`);
    t.equal(world.asked.length, 1, 'the credential is not tried at the other address');
    t.match(await stateOf(world, 'spread'), {
      state: 'out',
      cause: 'credential',
      formats_out: ['openai', 'anthropic'],
    });
    t.match(await stateOf(world, 'one'), { state: 'up' });
  }
});

test('explain shows the targets of the format of its endpoint', async (t) => {
  const world = await startBoth(t);
  const explained = async (model: string, endpoint?: string) => {
    const path = `/api/keys/${world.keyId}/explain/`;
    const response = await world.api('POST', path, world.key, { model, ...(endpoint && { endpoint }) });
    const { code, targets } = (await response.json()) as {
      code: string | null;
      targets: { target: string }[];
    };
    return [code, targets.map(({ target }) => target)];
  };
  t.same(await explained('spread', '/v1/chat/completions'), [null, ['both', 'gpt']]);
  t.same(await explained('spread', '/v1/messages'), [null, ['both', 'claude']]);
  t.same(await explained('spread'), [null, ['both', 'gpt']]);
  t.same(await explained('only', '/v1/messages'), ['endpoint_mismatch', ['gpt']]);
});
