import { test } from 'tap';
import type { Model } from '../../../src/domain/catalog.ts';
import { ENDPOINTS } from '../../../src/gateway/endpoints.ts';
import { checkMembers, type Members } from '../../../src/metering/members.ts';
import { jsonBodyOf, modelAt, type Path, refusalOf } from '../../helper/fixtures/asked.ts';
import { CLIENT_CALLS } from '../../helper/fixtures/client-bodies.ts';
import { creditPrice } from '../../helper/fixtures/credit-price.ts';

const BODY: Readonly<Record<Path, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'a' }] },
  '/v1/responses': { input: 'a' },
  '/v1/messages': { messages: [{ role: 'user', content: 'a' }], max_tokens: 10 },
  '/v1/completions': { prompt: 'a' },
  '/v1/embeddings': { input: 'a' },
};
const PATHS = Object.keys(BODY) as Path[];
const UNITS = { input: 1, output: 1, webSearch: 1, cacheWrite1h: 1, outputAudio: 1 };

function modelOf(path: Path, provider: string, more: Partial<Model> = {}): Model {
  const { upstream } = modelAt(path);
  return modelAt(path, {
    upstream: provider === NO_PROVIDER ? upstream : { ...upstream, provider },
    price: creditPrice(UNITS),
    ...more,
  });
}

/** The provider of an upstream that names none. */
const NO_PROVIDER = '';
const vendorOf = (path: Path) => (path === '/v1/messages' ? 'anthropic' : 'openai');

function refusal(path: Path, more: object, provider: string = vendorOf(path)) {
  return refusalOf(path, modelOf(path, provider), { ...BODY[path], ...more });
}

function unknownIn(path: Path, more: object, provider: string = vendorOf(path)): readonly string[] {
  const model = modelOf(path, provider);
  const endpoint = ENDPOINTS.find((one) => one.path === path);
  if (!endpoint) throw new Error('no endpoint');
  const bytes = Buffer.from(JSON.stringify({ model: 'm', ...BODY[path], ...more }));
  const body = jsonBodyOf(bytes, new Map([['m', model]]), endpoint);
  return checkMembers(body, endpoint.members as Members).unknown;
}

test('multi_agent is refused in any letters and with any value, whoever the provider is', async (t) => {
  for (const path of PATHS) {
    for (const provider of [vendorOf(path), 'azure', NO_PROVIDER]) {
      for (const more of [
        { multi_agent: { enabled: true } },
        { multi_agent: { enabled: false } },
        { multi_agent: null },
        { Multi_Agent: true },
        { MULTI_AGENT: {} },
        { multi_agent: null, 'multi_\u0041gent': { enabled: true } },
      ])
        t.equal(refusal(path, more, provider), 'unpriced_parameter multi_agent', JSON.stringify(more));
    }
  }
});

test('an unknown member within messages, tools and options passes, and is named by its path', async (t) => {
  const chat = '/v1/chat/completions';
  const responses = '/v1/responses';
  const messages = '/v1/messages';
  const text = { type: 'text', text: 'a' };
  for (const [path, more, param] of [
    [chat, { messages: [{ role: 'user', content: [{ ...text, agents: 2 }] }] }, 'messages.agents'],
    [chat, { tools: [{ type: 'function', function: { name: 'f' }, background: true }] }, 'tools.background'],
    [chat, { prompt_cache_options: { speed_up: true } }, 'prompt_cache_options.speed_up'],
    [chat, { tools: [{ type: 'function', function: { name: 'f', tier: 'x' } }] }, 'tools.tier'],
    [responses, { text: { format: { type: 'text' }, fallback: 'x' } }, 'text.fallback'],
    [responses, { reasoning: { effort: 'high', agents: 4 } }, 'reasoning.agents'],
    [responses, { input: [{ type: 'message', role: 'user', content: [], search: true }] }, 'input.search'],
    [responses, { tools: [{ type: 'web_search', max_agents: 4 }] }, 'tools.max_agents'],
    [
      responses,
      { input: [{ type: 'additional_tools', tools: [{ type: 'function', name: 'f', tier: 1 }] }] },
      'input.tier',
    ],
    [messages, { thinking: { type: 'enabled', budget_tokens: 1, agents: 2 } }, 'thinking.agents'],
    [messages, { tools: [{ name: 'f', input_schema: {}, speed: 'fast' }] }, 'tools.speed'],
    [
      messages,
      { system: [{ ...text, cache_control: { type: 'ephemeral', fallback: 1 } }] },
      'system.fallback',
    ],
    [
      messages,
      { messages: [{ role: 'user', content: [{ type: 'tool_result', content: [{ ...text, tier: 'x' }] }] }] },
      'messages.tier',
    ],
  ] as const) {
    t.equal(refusal(path, more), undefined, JSON.stringify(more));
    t.same(unknownIn(path, more), [param], JSON.stringify(more));
  }
});

test('unknown members pass, whatever they are called, and are named', async (t) => {
  for (const path of PATHS) {
    const more = { completion_window: '24h', extra_data: {}, agent: { id: 1 }, price_tier: 'x' };
    t.equal(refusal(path, more), undefined, path);
    t.same(unknownIn(path, more), ['completion_window', 'extra_data', 'agent', 'price_tier']);
    t.same(unknownIn(path, { agent: null }), [], 'null is absent');
  }
  const echoed = { role: 'assistant', content: 'a', reasoning_content: 'I search the tools', weight: 1 };
  t.equal(refusal('/v1/chat/completions', { messages: [echoed] }), undefined);
  t.same(unknownIn('/v1/chat/completions', { messages: [echoed] }), ['messages.weight']);
});

test('names that the client chooses are not inspected', async (t) => {
  const schema = { type: 'object', properties: { search: {}, agent: { model: 'x' } }, tier: 'fast' };
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"agent":1}' };
  t.equal(
    refusal('/v1/responses', {
      input: [call],
      metadata: { agent: 'background' },
      text: { format: { type: 'json_schema', name: 'n', schema } },
      tools: [{ type: 'function', name: 'f', parameters: schema }],
    }),
    undefined,
  );
  t.equal(
    refusal('/v1/messages', {
      metadata: { user_id: 'agent' },
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { search: 'x' } }] },
      ],
      tools: [{ name: 'f', input_schema: schema }],
    }),
    undefined,
  );
  const named = { type: 'function', function: { name: 'f', parameters: schema } };
  t.equal(refusal('/v1/chat/completions', { tools: [named], metadata: { tier: 'x' } }), undefined);
});

test('on upstreams of other providers, and of none, unknown members pass in silence', async (t) => {
  for (const provider of ['azure', 'openrouter', NO_PROVIDER]) {
    t.equal(refusal('/v1/chat/completions', { agent: true, tools: [] }, provider), undefined);
    t.same(unknownIn('/v1/chat/completions', { agent: true }, provider), []);
  }
});

test('a free model gives them away', async (t) => {
  const free = modelOf('/v1/responses', 'openai', { price: creditPrice({}), priceSource: 'free' });
  const body = { input: 'a', agent: true, multi_agent: {}, provider: { only: ['x'] } };
  t.equal(refusalOf('/v1/responses', free, body), undefined);
});

test('OpenRouter members that choose a host or hidden settings are refused', async (t) => {
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const) {
    for (const provider of ['openrouter', NO_PROVIDER]) {
      const only = { provider: { only: ['dear'] } };
      t.equal(refusal(path, only, provider), 'unpriced_parameter provider', path);
      t.equal(refusal(path, { preset: 'mine' }, provider), 'unpriced_parameter preset', path);
      t.equal(refusal(path, { provider: null }, provider), undefined, path);
    }
  }
});

test('the bodies of today’s clients have no unknown member', async (t) => {
  for (const [client, { path, body }] of Object.entries(CLIENT_CALLS))
    t.same(unknownIn(path, body), [], client);
});

test('names that a client makes up are bounded', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`x${index}${'y'.repeat(200)}`, 1]),
  );
  const unknown = unknownIn('/v1/chat/completions', many);
  t.equal(unknown.length, 20);
  t.ok(unknown.every((name) => name.length <= 100));
});
