import { type Test, test } from 'tap';
import type { Model } from '../../../src/domain/catalog.ts';
import { chargeFor, priceOf } from '../../../src/domain/price.ts';
import { askedOf, modelAt, type Path } from '../../helper/fixtures/asked.ts';
import { creditPrice } from '../../helper/fixtures/credit-price.ts';

const BOUNDS = { imageTokens: 20_000, contextTokens: 1_000_000, toolRounds: 3, toolTokens: 50_000 };
const CONTEXT = 200_000;
/** A credit a token, in or out; 50 credits a search. */
const SEARCHES = creditPrice({ input: 1_000_000, output: 1_000_000, webSearch: 50_000 });

/** Hold and estimate in credits. */
function costOf(path: Path, body: Record<string, unknown>, more: Partial<Model> = {}, storedTokens = 0) {
  const model = modelAt(path, { price: SEARCHES, contextWindow: CONTEXT, maxOutputTokens: 10_000, ...more });
  const { hold, estimate } = askedOf(path, model, body).cost({ ...BOUNDS, storedTokens });
  return { hold: hold / 1e6, estimate: estimate / 1e6 };
}

const chat = (body: object, more?: Partial<Model>) =>
  costOf(
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...body },
    more,
  );
const responses = (body: object, more?: Partial<Model>, stored?: number) =>
  costOf('/v1/responses', { input: 'hi', max_output_tokens: 1, ...body }, more, stored);
const messages = (body: object, more?: Partial<Model>) =>
  costOf('/v1/messages', { messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...body }, more);

/** How much more it holds than a plain call, in credits. */
const more = (held: { hold: number }, plain: { hold: number }) => held.hold - plain.hold;

/** Whether a number is at least this, and exceeds it by no more than the input's overheads in all passes. */
const isAbout = (t: Test, value: number, least: number, what: string, spare = 2_500) =>
  t.ok(value >= least && value <= least + spare, `${what}: ${value}, not ${least}`);

test('rounds of provider-run tools: each pass reads the input and the results of earlier rounds', (t) => {
  const plain = responses({});
  const tools = [{ type: 'web_search' }];
  // Passes of 50,000, 100,000 and 150,000 tokens more than the first.
  isAbout(t, more(responses({ tools }), plain), 300_000 + 3 * 50, 'limits.toolRounds');
  isAbout(t, more(responses({ tools, max_tool_calls: 2 }), plain), 150_000 + 2 * 50, 'named');
  isAbout(t, more(responses({ tools, max_tool_calls: null }), plain), 300_000 + 3 * 50, 'null names none');
  t.ok(more(responses({ tools, max_tool_calls: 0 }), plain) < 300, 'no round');
  isAbout(
    t,
    more(responses({ tools, max_tool_calls: 10 }), plain),
    300_000 + 7 * CONTEXT + 10 * 50,
    'no pass reads more than the window',
  );
  const unknown = more(responses({ tools, max_tool_calls: 30 }, { contextWindow: undefined }), plain);
  isAbout(t, unknown, 190 * 50_000 + 11 * 1_000_000 + 30 * 50, 'limits.contextTokens', 5_000);
  isAbout(t, responses({ tools: [{ type: 'tool_search' }] }).hold, 4, 'listed tools add nothing but passes');
  const message = messages({});
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const eight = more(messages({ tools: [{ ...search, max_uses: 8 }] }), message);
  isAbout(t, eight, 300_000 + 5 * CONTEXT + 8 * 50, 'max_uses', 15_000);
  const one = more(chat({ web_search_options: {} }), chat({}));
  isAbout(t, one, 50_000 + 50, 'a chat searches once');
  t.end();
});

test('a named max_content_tokens above limits.toolTokens counts', (t) => {
  const fetch = (rest: object) => messages({ tools: [{ type: 'web_fetch_20260318', max_uses: 1, ...rest }] });
  const plain = fetch({ max_content_tokens: 1 });
  isAbout(t, more(fetch({ max_content_tokens: 120_000 }), plain), 70_000, 'larger');
  isAbout(t, more(fetch({ max_content_tokens: 40_000 }), plain), 0, 'smaller');
  isAbout(t, more(fetch({ max_content_tokens: 900_000 }), plain), 140_000, 'at most the window', 10_000);
  t.end();
});

test('MCP servers: every pass may read the window, also the first, which has their tools', (t) => {
  const tools = [{ type: 'mcp', server_label: 'a', server_url: 'https://a.example' }];
  isAbout(t, responses({ tools }).hold, 4 * CONTEXT, 'limits.toolRounds');
  isAbout(t, responses({ tools, max_tool_calls: 1 }).hold, 2 * CONTEXT, 'named');
  const servers = { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] };
  isAbout(t, messages(servers).hold, 11 * CONTEXT, 'ten rounds, as no field bounds them');
  const toolset = { ...servers, tools: [{ type: 'mcp_toolset', mcp_server_name: 'a', max_uses: 1 }] };
  isAbout(t, messages(toolset).hold, 11 * CONTEXT, 'a field that the tool does not have bounds nothing');
  t.end();
});

test('the tool search of Anthropic adds ten passes over the whole prompt, and nothing else', (t) => {
  const long = { messages: [{ role: 'user', content: 'a'.repeat(100_000) }] };
  const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
  const held = messages({ ...long, tools: [search] }).hold;
  isAbout(t, held, 11 * 100_000, 'eleven passes', 40_000);
  const both = messages({ ...long, tools: [search, { type: 'web_search_20250305', max_uses: 1 }] }).hold;
  isAbout(t, both, 12 * 100_000 + 11 * 50_000 + 50, 'what the web search finds stays in the input', 60_000);
  t.end();
});

test('bounds of a tool that are no count are refused', (t) => {
  const uses = (max_uses: unknown) => messages({ tools: [{ type: 'web_search_20250305', max_uses }] });
  for (const value of [-1, 1.5, '3', {}])
    t.throws(() => uses(value), { code: 'invalid_field', param: 'tools' }, JSON.stringify(value));
  t.throws(() => messages({ tools: new Array(40).fill({ type: 'web_search_20250305' }) }), {
    code: 'invalid_field',
    param: 'tools',
  });
  t.end();
});

test('the length tier is that of each pass if the answer reports passes, else that of their sum', (t) => {
  const price = priceOf(
    { input: 1_000_000_000_000n, output: 1_000_000_000_000n, webSearch: 0n },
    { tiers: [{ above: 120_000, units: { input: 10_000_000_000_000n } }] },
  );
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
  const held = messages({ tools: [search] }, { price }).hold;
  // Passes of about 3,000, 53,000, 103,000 and 153,000 tokens: the last one is long.
  const own = (held - 150_000 - 1_500_000) / 13;
  t.ok(own > 1_000 && own < 6_000, `${held}`);
  const tools = [{ type: 'web_search' }];
  const all = responses({ tools, max_tool_calls: 3 }, { price }).hold;
  isAbout(t, all, 10 * 300_000, 'by the sum', 10 * 2_500);
  t.end();
});

test('a pass reads at most the window of the model', (t) => {
  const text = 'a'.repeat(3 * CONTEXT);
  isAbout(t, responses({ input: text }).hold, CONTEXT + 1, 'responses', 0);
  isAbout(t, messages({ messages: [{ role: 'user', content: text }] }).hold, CONTEXT + 1, 'messages', 0);
  isAbout(t, chat({ messages: [{ role: 'user', content: text }] }).hold, CONTEXT + 1, 'chat', 0);
  isAbout(t, responses({}, {}, 5 * CONTEXT).hold, CONTEXT + 1, 'stored answers', 0);
  isAbout(t, costOf('/v1/embeddings', { input: [text, 'a'] }).hold, 2 * CONTEXT, 'two texts, two passes', 0);
  const prompts = costOf('/v1/completions', { prompt: [text, 'a'], max_tokens: 10 });
  isAbout(t, prompts.hold, 2 * CONTEXT + 20, 'two prompts', 0);
  t.end();
});

test('predicted output counts as output besides the maximum', (t) => {
  const price = creditPrice({ input: 0, output: 1_000_000 });
  const of = (prediction: unknown) => chat({ max_tokens: 100, prediction }, { price }).hold;
  t.equal(of(undefined), 100);
  t.equal(of({ type: 'content', content: 'é'.repeat(500) }), 1_100);
  t.equal(
    of({
      type: 'content',
      content: [
        { type: 'text', text: 'abc' },
        { type: 'text', text: 'd' },
      ],
    }),
    104,
  );
  t.equal(chat({ max_tokens: 100, n: 3, prediction: { content: 'abcd' } }, { price }).hold, 312);
  t.equal(of({ content: 'a'.repeat(2 * CONTEXT) }), 100 + CONTEXT, 'no answer is longer than the window');
  t.end();
});

test('a maximum of 0 names none', (t) => {
  for (const held of [
    chat({ max_tokens: 0 }),
    chat({ max_tokens: 0, max_completion_tokens: 0 }),
    responses({ max_output_tokens: 0 }),
    messages({ max_tokens: 0 }),
    costOf('/v1/completions', { prompt: 'a', max_tokens: 0 }),
  ])
    isAbout(t, held.hold, 10_000, 'maxOutputTokens of the model');
  t.end();
});

test('tools hidden in input and messages are held like those in tools', (t) => {
  const plain = responses({});
  const tool = { type: 'web_search' };
  for (const type of ['additional_tools', 'tool_search_output']) {
    const hidden = more(responses({ input: [{ type, role: 'developer', tools: [tool] }] }), plain);
    isAbout(t, hidden, 300_000 + 3 * 50, `${type}: the item itself is no medium`);
  }
  const definition = { type: 'web_search_20250305', name: 'web_search' };
  const content = [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }];
  const added = more(messages({ messages: [{ role: 'system', content }] }), messages({}));
  isAbout(t, added, 300_000 + 3 * 50, 'tool_addition', 15_000);
  t.end();
});

test('tools that the client runs hold no rounds', (t) => {
  const of = (type: string, rest: object = {}) => ({ type, name: 'f', ...rest });
  const plain = responses({});
  for (const tool of [
    of('namespace', { tools: [of('function')] }),
    of('tool_search', { execution: 'client' }),
    of('shell', { environment: { type: 'local' } }),
    of('custom'),
    of('apply_patch'),
  ]) {
    t.ok(more(responses({ tools: [tool] }), plain) < 300, tool.type);
  }
  for (const type of ['bash_20250124', 'memory_20250818'])
    t.ok(more(messages({ tools: [of(type)] }), messages({})) < 3_000, type);
  t.end();
});

test('items and blocks that are no media are text', (t) => {
  const OPENAI = [
    { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a' } },
    { type: 'apply_patch_call_output', call_id: 'c', status: 'completed', output: 'ok' },
    { type: 'shell_call', call_id: 'c', action: { commands: ['ls'] } },
    {
      type: 'shell_call_output',
      call_id: 'c',
      output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit' } }],
    },
    { type: 'tool_search_call', call_id: 'c', arguments: {} },
    { type: 'tool_search_output', call_id: 'c', tools: [] },
    { type: 'additional_tools', role: 'developer', tools: [] },
    { type: 'compaction', encrypted_content: 'abc' },
    { type: 'agent_message', content: [{ type: 'input_text', text: 'a' }] },
  ];
  for (const item of OPENAI) t.ok(more(responses({ input: [item] }), responses({})) < 300, item.type);
  const ANTHROPIC = [
    { type: 'tool_reference', tool_name: 'f' },
    {
      type: 'tool_search_tool_result',
      tool_use_id: 't',
      content: { type: 'tool_search_tool_search_result' },
    },
    { type: 'compaction', content: 'a' },
    {
      type: 'web_fetch_tool_result',
      tool_use_id: 't',
      content: { type: 'web_fetch_result', url: 'https://a.example' },
    },
    { type: 'tool_removal', tool: { type: 'tool_reference', tool_name: 'f' } },
  ];
  for (const block of ANTHROPIC) {
    const held = messages({ messages: [{ role: 'user', content: [block] }] });
    t.ok(more(held, messages({})) < 300, block.type);
  }
  const strange = responses({ input: [{ type: 'hologram', data: 'a' }] });
  isAbout(t, strange.hold, CONTEXT + 1, 'a type that nobody knows may be a whole file', 0);
  t.end();
});

test('a conversation is summarized only by a compact edit whose trigger the input can reach', (t) => {
  const plain = messages({});
  const edits = (...list: unknown[]) => ({ context_management: { edits: list } });
  const compact = { type: 'compact_20260112' };
  const trigger = (value: number) => ({ ...compact, trigger: { type: 'input_tokens', value } });
  t.ok(more(messages(edits({ type: 'clear_thinking_20251015', keep: 'all' })), plain) < 300);
  t.ok(more(messages(edits({ type: 'clear_tool_uses_20250919' })), plain) < 300);
  t.ok(more(messages(edits(compact)), plain) < 300, 'the default of 150,000 is out of reach');
  t.ok(more(messages(edits(trigger(50_000))), plain) < 300);
  const long = { messages: [{ role: 'user', content: 'a'.repeat(60_000) }] };
  t.ok(more(messages({ ...long, ...edits(trigger(50_000)) }), messages(long)) >= CONTEXT + 10_000);
  const search = { tools: [{ type: 'web_search_20250305', max_uses: 3 }] };
  t.ok(
    more(messages({ ...search, ...edits(compact) }), messages(search)) >= CONTEXT,
    'what tools find counts',
  );
  const full = { tools: [{ type: 'web_search_20250305', max_uses: 30 }] };
  const least = (value: number) => more(messages({ ...full, ...edits(trigger(value)) }), messages(full));
  t.ok(least(CONTEXT) >= CONTEXT, 'a full window reaches its own size');
  t.ok(least(CONTEXT + 1) < 1_000, 'and never exceeds it');
  t.ok(more(messages({ compaction: { type: 'summarize' } }), plain) >= CONTEXT, 'a request for a summary');
  const threshold = (value?: number) => ({
    context_management: [{ type: 'compaction', compact_threshold: value }],
  });
  t.ok(more(responses(threshold()), responses({})) < 300);
  t.ok(more(responses(threshold(100)), responses({})) >= CONTEXT + 10_000);
  t.ok(
    more(responses(threshold(), {}, 150_000), responses({}, {}, 150_000)) >= CONTEXT,
    'stored tokens count',
  );
  t.end();
});

test('the dearest way in which the request can be billed', (t) => {
  const units = { input: 1_000_000, output: 1_000_000 };
  const priced = (extra: Parameters<typeof creditPrice>[0], tiers?: Record<string, number>) => ({
    price: creditPrice({ ...units, ...extra }, tiers),
  });
  const text = chat({}).hold;
  const image = {
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example' } }] }],
  };
  const sound = {
    messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA' } }] }],
  };
  t.equal(chat({}, priced({ inputImage: 3_000_000, inputAudio: 4_000_000 })).hold, text, 'text is text');
  t.equal(chat(image, priced({ inputImage: 3_000_000 })).hold, 3 * chat(image).hold - 2);
  t.equal(chat(sound, priced({ inputAudio: 4_000_000 })).hold, 4 * chat(sound).hold - 3);
  const spoken = chat({ max_tokens: 100, modalities: ['audio'] }, priced({ outputAudio: 5_000_000 }));
  t.ok(spoken.hold >= 500);
  const hour = { cache_control: { ttl: '1h' } };
  t.ok(messages(hour, priced({ cacheWrite1h: 2_000_000 })).hold > 2 * messages({}).hold);
  t.equal(
    messages({}, priced({ cacheWrite1h: 2_000_000 })).hold,
    messages({}).hold,
    'which it did not ask for',
  );

  const tiers = priced({}, { priority: 2, flex: 0.5 });
  t.equal(chat({}, tiers).hold, 2 * text, 'none asked for: the dearest');
  const tier = (name: string) => chat({ service_tier: name }, tiers).hold;
  const bytes = (name: string) => `"service_tier":"${name}",`.length;
  t.equal(tier('auto'), 2 * (text + bytes('auto')));
  t.equal(tier('priority'), 2 * (text + bytes('priority')));
  t.equal(tier('flex'), text + bytes('flex'), 'the provider may serve the plain one');
  t.equal(tier('default'), text + bytes('default'));
  const both = priced({}, { fast: 6, us: 1.1 });
  t.equal(Math.round(messages({}, both).hold * 10), 66 * messages({}).hold, 'a speed and a region multiply');
  t.end();
});

test('a call is never charged more than it holds, in any tier that it reaches', (t) => {
  const price = creditPrice({ input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25, webSearch: 10 });
  const model = modelAt('/v1/messages', { price, contextWindow: CONTEXT });
  const tools = [{ type: 'web_search_20250305', max_uses: 3 }];
  const body = { messages: [{ role: 'user', content: 'a'.repeat(1_000) }], max_tokens: 500, tools };
  const { hold } = askedOf('/v1/messages', model, body).cost(BOUNDS);
  const charge = chargeFor(price, {
    input: 1_000,
    cacheWrite: 3 * 1_000 + 6 * 50_000,
    output: 500,
    webSearches: 3,
    requests: 1,
  });
  t.ok(charge <= hold, `${charge} of ${hold}`);
  t.end();
});

test('endless counts hold more than any account has', (t) => {
  const tools = [{ type: 'web_search' }];
  t.equal(responses({ tools, max_tool_calls: Number.MAX_SAFE_INTEGER }).hold, Number.MAX_SAFE_INTEGER / 1e6);
  t.equal(chat({ n: Number.MAX_SAFE_INTEGER, max_tokens: 4_096 }).hold, Number.MAX_SAFE_INTEGER / 1e6);
  t.end();
});

test('the estimate: a third of the bytes, an answer of at most 4,096 tokens, one round of at most 16,384', (t) => {
  const size = (body: object) => Buffer.byteLength(JSON.stringify({ model: 'm', ...body }));
  const of = (path: Path, body: Record<string, unknown>, extra?: Partial<Model>) => ({
    third: Math.ceil(size(body) / 3),
    ...costOf(path, body, extra),
  });
  const hi = [{ role: 'user', content: 'hi 日本語' }];
  const named = of('/v1/chat/completions', { messages: hi, max_tokens: 100 });
  t.equal(named.estimate, named.third + 100);
  const many = of('/v1/chat/completions', { messages: hi, max_tokens: 9_000, n: 3 });
  t.equal(many.estimate, many.third + 3 * 4_096);
  const none = of('/v1/chat/completions', { messages: hi });
  t.equal(none.estimate, none.third + 4_096);
  const short = of('/v1/chat/completions', { messages: hi }, { maxOutputTokens: 1_000 });
  t.equal(short.estimate, short.third + 1_000, 'the model writes no more');
  const tools = [{ type: 'web_search' }];
  const round = of('/v1/responses', { input: 'hi', max_output_tokens: 10, tools });
  t.equal(round.estimate, round.third + 10 + 16_384);
  const little = of('/v1/responses', { input: 'hi', max_output_tokens: 10, tools }, { contextWindow: 8_000 });
  t.equal(little.estimate, little.third + 10 + 8_000);
  const data = 'A'.repeat(90_000);
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const seen = of('/v1/messages', { messages: [{ role: 'user', content: [picture] }], max_tokens: 10 });
  t.equal(
    seen.estimate,
    Math.ceil((size({ messages: [{ role: 'user', content: [picture] }], max_tokens: 10 }) - 90_000) / 3) + 10,
    'base64 is not text',
  );
  const flat = costOf('/v1/chat/completions', { messages: hi }, { price: creditPrice({ request: 2 }) });
  t.same(flat, { hold: 2, estimate: 2 }, 'no price by token: the hold');
  const tiered = creditPrice({ input: 1_000_000, output: 1_000_000 }, { priority: 2 });
  const dear = costOf('/v1/chat/completions', { messages: hi, max_tokens: 100 }, { price: tiered });
  t.equal(dear.estimate, named.estimate, 'at the plain price');
  const cheap = creditPrice({ input: 1_000_000, cachedInput: 0, output: 0 });
  const least = costOf('/v1/embeddings', { input: 'hi' }, { price: cheap });
  t.ok(least.estimate <= least.hold);
  t.end();
});
