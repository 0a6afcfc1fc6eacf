import { type Test, test } from 'tap';
import { PRESETS, type Preset } from '../../../src/config/presets.ts';
import { load } from '../../helper/fixtures/config-file.ts';
import { type ReceivedRequest, startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { lastCharge, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

type Name = keyof typeof PRESETS;

const SSE = { 'content-type': 'text/event-stream' };
const chunk = (data: object) => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...data })}\n\n`;
const WORD = { index: 0, delta: { content: 'Hello' } };
const STOP = { index: 0, delta: {}, finish_reason: 'stop' };
const DONE = 'data: [DONE]\n\n';
const usage = (more: object = {}) => ({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, ...more });
const lastWithUsage = (more: object = {}) => chunk({ choices: [STOP], usage: usage(more) });
const afterwards = (more: object = {}) => chunk({ choices: [], usage: usage(more) });

/** A stream as each provider documents it (the pages that PRESETS names). */
const STREAMS: Readonly<Partial<Record<Name, readonly string[]>>> = {
  // The first chunk has the content filter's results for the prompt, and no choices.
  azure: [
    chunk({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }),
    chunk({ choices: [WORD] }),
    chunk({ choices: [STOP] }),
    afterwards(),
    DONE,
  ],
  google: [chunk({ choices: [WORD] }), lastWithUsage(), DONE],
  vertex: [chunk({ choices: [WORD] }), lastWithUsage({ extra_properties: { google: {} } }), DONE],
  mistral: [chunk({ choices: [WORD] }), lastWithUsage(), DONE],
  // The usage is also in the last chunk with choices, under another name.
  groq: [
    chunk({ choices: [WORD] }),
    chunk({ choices: [STOP], x_groq: { id: 'req_1', usage: usage({ queue_time: 0.1 }) } }),
    afterwards({ queue_time: 0.1 }),
    DONE,
  ],
  deepseek: [
    chunk({ choices: [WORD] }),
    lastWithUsage({ prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 11 }),
    DONE,
  ],
  // Comments keep the connection alive until the model begins.
  openrouter: [
    ': OPENROUTER PROCESSING\n\n',
    chunk({ choices: [WORD] }),
    chunk({ choices: [STOP] }),
    afterwards({ cost: 0.1 }),
    DONE,
  ],
  perplexity: [
    chunk({ choices: [WORD], usage: usage({ completion_tokens: 1 }) }),
    lastWithUsage({ search_context_size: 'low' }),
    DONE,
  ],
};
const USUAL = [chunk({ choices: [WORD] }), chunk({ choices: [STOP] }), afterwards(), DONE];

const ANTHROPIC = [
  ['message_start', { message: { id: 'msg_1', usage: { input_tokens: 11, output_tokens: 1 } } }],
  ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }],
  ['content_block_stop', { index: 0 }],
  ['message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }],
  ['message_stop', {}],
].map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...(data as object) })}\n\n`);

const NAMES = Object.keys(PRESETS) as Name[];
const ENV = { GOOGLE_CLOUD_LOCATION: 'europe-west1', GOOGLE_CLOUD_PROJECT: 'shop', AWS_REGION: 'eu-west-1' };
const streamOf = (name: string) => (name === 'anthropic' ? ANTHROPIC : (STREAMS[name as Name] ?? USUAL));

/** One gateway with a model at each provider, each with its own loopback address. */
async function startEach(t: Test) {
  const provider = await startScriptedProvider({
    behave: ({ url }) => ({ headers: SSE, body: streamOf(url.split('/')[1] as string) }),
  });
  t.teardown(() => provider.close());
  const upstreams = NAMES.map(
    (name) => `  ${name}: { provider: ${name}, url: "${provider.url}/${name}", apiKey: key-of-${name} }`,
  );
  const models = NAMES.map(
    (name) =>
      `  m-${name}: { upstream: ${name}, upstreamModel: model/1, category: text, maxOutputTokens: 100, price: { input: 1, output: 2 } }`,
  );
  const { catalog } = load(t, `upstreams:\n${upstreams.join('\n')}\nmodels:\n${models.join('\n')}\n`, ENV);
  return await startGatewayInProcess(t, { provider, config: { catalog } });
}

/** The path of a provider's chat endpoint. */
const CHAT_PATHS: Readonly<Partial<Record<Name, string>>> = {
  anthropic: '/v1/messages',
  azure: '/openai/deployments/model%2F1/chat/completions?api-version=2024-10-21',
  google: '/v1beta/openai/chat/completions',
  vertex: '/v1/projects/shop/locations/europe-west1/endpoints/openapi/chat/completions',
  bedrock: '/openai/v1/chat/completions',
  groq: '/openai/v1/chat/completions',
  openrouter: '/api/v1/chat/completions',
  fireworks: '/inference/v1/chat/completions',
  perplexity: '/chat/completions',
  cohere: '/compatibility/v1/chat/completions',
  zai: '/api/paas/v4/chat/completions',
  qwen: '/compatible-mode/v1/chat/completions',
};

test('each preset sends a call where its provider takes it, and reads the usage that it reports', async (t) => {
  const world = await startEach(t);
  for (const name of NAMES) {
    const { key, accountId } = await world.account();
    const path = name === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = { model: `m-${name}`, stream: true, max_tokens: 10, messages };
    const response = await world.api('POST', path, key, body);
    const text = await response.text();
    t.equal(response.status, 200, name);
    t.match(text, 'Hello', name);
    const { usage: used, estimated } = await lastCharge(world, accountId);
    t.match({ used, estimated }, { used: { input: 11, output: 7 }, estimated: false }, name);
    const sent = await world.provider.request(NAMES.indexOf(name));
    t.equal(sent.url, `/${name}${CHAT_PATHS[name] ?? '/v1/chat/completions'}`);
    checkCredential(t, name, sent);
    const asked = JSON.parse(sent.body.toString()) as { model: string; stream_options?: object };
    const { streamUsage = 'ask', format } = PRESETS[name] as Preset;
    const isAsked = format === 'openai' && streamUsage === 'ask';
    t.same(asked.stream_options, isAsked ? { include_usage: true } : undefined, `${name}: stream_options`);
    t.equal(asked.model, 'model/1');
  }
});

/** A credential in the configuration is sent unchanged, to clouds too. */
function checkCredential(t: Test, name: Name, { headers }: ReceivedRequest): void {
  const value = `key-of-${name}`;
  const shown = {
    'x-api-key': headers['x-api-key'],
    'api-key': headers['api-key'],
    authorization: headers.authorization,
  };
  const none = { 'x-api-key': undefined, 'api-key': undefined, authorization: undefined };
  if (name === 'anthropic') t.same(shown, { ...none, 'x-api-key': value });
  else if (name === 'azure') t.same(shown, { ...none, 'api-key': value });
  else t.same(shown, { ...none, authorization: `Bearer ${value}` }, name);
}

test("Azure's responses and videos go to its interface without deployments", async (t) => {
  const world = await startEach(t);
  const { key } = await world.account();
  const asked = world.api('POST', '/v1/responses', key, { model: 'm-azure', input: 'Hello' });
  t.equal((await world.provider.request(0)).url, '/azure/openai/v1/responses');
  // The answer is a stream of another API, which this test does not check.
  await (await asked).text().catch(() => '');
});
