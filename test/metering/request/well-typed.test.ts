import { test } from 'tap';
import { modelAt, type Path, refusalOf } from '../../helper/fixtures/asked.ts';
import { creditPrice } from '../../helper/fixtures/credit-price.ts';

const UNITS = { input: 1, output: 1, webSearch: 1, cacheWrite1h: 1, outputAudio: 1 };
const MESSAGES = [{ role: 'user', content: 'a' }];
const NEEDED: Readonly<Partial<Record<Path, object>>> = {
  '/v1/chat/completions': { messages: MESSAGES },
  '/v1/responses': { input: 'a' },
  '/v1/messages': { messages: MESSAGES, max_tokens: 10 },
};

/** Members of a wrong type, which a lenient provider accepts, by endpoint and by the field that the error names. */
const ODD: readonly (readonly [Path, string, Record<string, unknown>])[] = [
  ...[{ googleSearch: {} }, { codeExecution: {} }, { type: null }, {}, 'web_search', null, 1, []].flatMap(
    (tool) =>
      (['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const).map(
        (path) => [path, 'tools', { tools: [tool] }] as const,
      ),
  ),
  ...[{ 0: { type: 'web_search' } }, 'web_search', true].flatMap((tools) =>
    (['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const).map(
      (path) => [path, 'tools', { tools }] as const,
    ),
  ),
  ['/v1/chat/completions', 'tools', { tools: [{ name: 'a' }] }],
  ['/v1/chat/completions', 'functions', { functions: { name: 'a' } }],
  ['/v1/chat/completions', 'modalities', { modalities: 'audio' }],
  ['/v1/chat/completions', 'messages', { messages: { role: 'user', content: 'a' } }],
  ['/v1/chat/completions', 'messages', { messages: [{ role: 'user', content: { type: 'image_url' } }] }],
  ['/v1/chat/completions', 'max_tokens', { max_tokens: '5' }],
  ['/v1/responses', 'tools', { tools: [{ name: 'a' }] }],
  ['/v1/responses', 'tools', { tools: [{ type: 'namespace', name: 'a', tools: ['web_search'] }] }],
  ['/v1/responses', 'input', { input: [{ type: 'additional_tools', tools: { type: 'web_search' } }] }],
  ['/v1/responses', 'input', { input: { type: 'message' } }],
  ['/v1/responses', 'context_management', { context_management: { type: 'compaction' } }],
  ...['1000', 0.5, -1, 2 ** 53].map(
    (at) =>
      [
        '/v1/responses',
        'context_management',
        { context_management: [{ type: 'compaction', compact_threshold: at }] },
      ] as const,
  ),
  ['/v1/messages', 'tools', { tools: [{ function: {} }] }],
  ['/v1/messages', 'mcp_servers', { mcp_servers: { url: 'https://a.example' } }],
  ['/v1/messages', 'system', { system: { type: 'text', text: 'a' } }],
  ['/v1/messages', 'messages', { messages: [{ role: 'user', content: { type: 'text', text: 'a' } }] }],
  ['/v1/messages', 'messages', { messages: [{ role: 'user', content: [{ tool_changes: 'a' }] }] }],
  ['/v1/messages', 'context_management', { context_management: { edits: { type: 'compact_20260112' } } }],
  ...['1000', 0.5, -1, true, 2 ** 53].flatMap(
    (count) =>
      [
        ['/v1/messages', 'tools', { tools: [{ type: 'web_search_20250305', name: 'a', max_uses: count }] }],
        ['/v1/messages', 'thinking', { thinking: { type: 'enabled', budget_tokens: count } }],
        [
          '/v1/messages',
          'context_management',
          {
            context_management: {
              edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: count } }],
            },
          },
        ],
      ] as const,
  ),
];

test('tools, lists and counts of another type reached the provider with the hold of a plain call', (t) => {
  for (const [path, param, body] of ODD) {
    const model = modelAt(path, { price: creditPrice(UNITS) });
    t.equal(
      refusalOf(path, model, { ...NEEDED[path], ...body }),
      `invalid_field ${param}`,
      JSON.stringify(body),
    );
  }
  t.end();
});

test('null counts as absent', (t) => {
  for (const [path, body] of [
    ['/v1/chat/completions', { tools: null, functions: null, modalities: null, max_tokens: null }],
    ['/v1/chat/completions', { tools: [{ type: null, function: { name: 'a' } }] }],
    ['/v1/chat/completions', { messages: [{ role: 'assistant', content: null }] }],
    ['/v1/responses', { tools: null, context_management: null }],
    ['/v1/responses', { context_management: [{ type: 'compaction', compact_threshold: null }] }],
    ['/v1/messages', { tools: null, system: null, mcp_servers: null, thinking: null }],
    ['/v1/messages', { tools: [{ type: null, name: 'a' }], thinking: { budget_tokens: null } }],
  ] as const) {
    const model = modelAt(path, { price: creditPrice(UNITS) });
    t.equal(refusalOf(path, model, { ...NEEDED[path], ...body }), undefined, JSON.stringify(body));
  }
  t.end();
});
