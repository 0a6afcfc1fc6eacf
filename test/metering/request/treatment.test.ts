import { test } from 'tap';
import { modelAt, type Path, refusalOf } from '../../helper/fixtures/asked.ts';
import { creditPrice } from '../../helper/fixtures/credit-price.ts';

/**
 * Fields of requests that can cost something, by the current types of the vendors' SDKs (openai 7.55:
 * resources/chat/completions, resources/responses; @anthropic-ai/sdk 1.11: resources/beta/messages), and what becomes
 * of them: `pass`, `unpriced <param>` (400 unless the model has the price in the last column), `refused <param>` (400
 * `invalid_field`, whatever the model's price).
 */
type Row = readonly [field: string, body: Record<string, unknown>, treatment: string, priced?: string];

const call = (...tools: unknown[]) => ({ tools });
const HIDDEN = (tool: unknown) => ({
  input: [{ type: 'additional_tools', role: 'developer', tools: [tool] }],
});
const FOUND = (tool: unknown) => ({ input: [{ type: 'tool_search_output', call_id: 'c', tools: [tool] }] });

const BREAKPOINT_12H = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } };
const CHAT: readonly Row[] = [
  ['service_tier null', { service_tier: null }, 'pass'],
  ['service_tier auto', { service_tier: 'auto' }, 'pass'],
  ['service_tier default', { service_tier: 'default' }, 'pass'],
  ['service_tier flex', { service_tier: 'flex' }, 'unpriced service_tier', 'tier flex'],
  ['service_tier priority', { service_tier: 'priority' }, 'unpriced service_tier', 'tier priority'],
  ['service_tier that nobody knows', { service_tier: 'warp' }, 'unpriced service_tier', 'tier warp'],
  ['service_tier of another type', { service_tier: 5 }, 'unpriced service_tier'],
  ['functions', { functions: [{ name: 'f' }] }, 'pass'],
  ['tools function, custom', call({ type: 'function' }, { type: 'custom' }), 'pass'],
  ['tools of an unknown type', call({ type: 'browser_search' }), 'unpriced tools'],
  ['tools with a model', call({ type: 'function', model: 'other' }), 'refused tools'],
  ['web_search_options', { web_search_options: {} }, 'unpriced web_search_options', 'webSearch'],
  ['web_search_options null', { web_search_options: null }, 'pass'],
  ['modalities text', { modalities: ['text'] }, 'pass'],
  [
    'modalities audio',
    { modalities: ['text', 'audio'], audio: { voice: 'ash' } },
    'unpriced modalities',
    'outputAudio',
  ],
  ['audio', { audio: { voice: 'ash', format: 'wav' } }, 'unpriced audio', 'outputAudio'],
  [
    'input_audio',
    { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA' } }] }] },
    'pass',
  ],
  ['prompt_cache_retention', { prompt_cache_retention: '24h' }, 'pass'],
  ['prompt_cache_options 30m', { prompt_cache_options: { ttl: '30m' } }, 'pass'],
  [
    'prompt_cache_options 12h',
    { prompt_cache_options: { ttl: '12h' } },
    'unpriced prompt_cache_options',
    'cacheWrite1h',
  ],
  [
    'a breakpoint of 30m',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } },
            { type: 'text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
          ],
        },
      ],
    },
    'pass',
  ],
  [
    'a breakpoint of 12h',
    { messages: [{ role: 'system', content: [{ type: 'text', text: 'a', ...BREAKPOINT_12H }] }] },
    'unpriced prompt_cache_breakpoint',
    'cacheWrite1h',
  ],
  ['prediction', { prediction: { type: 'content', content: 'a' } }, 'pass'],
  ['moderation', { moderation: { model: 'omni-moderation-latest' } }, 'refused moderation'],
  ['models', { models: ['other'] }, 'refused models'],
  ['plugins', { plugins: [{ id: 'web' }] }, 'unpriced plugins'],
  ['search_parameters', { search_parameters: { mode: 'on' } }, 'unpriced search_parameters'],
  ['enable_search', { enable_search: true }, 'unpriced enable_search'],
  ['enable_search false', { enable_search: false }, 'pass'],
  [
    'cache_control of an hour',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
      ],
    },
    'unpriced cache_control',
    'cacheWrite1h',
  ],
];

const RESPONSES: readonly Row[] = [
  ['service_tier', { service_tier: 'ultrafast' }, 'unpriced service_tier', 'tier ultrafast'],
  ['reasoning mode', { reasoning: { mode: 'pro' } }, 'unpriced reasoning'],
  ['reasoning', { reasoning: { effort: 'high', mode: 'standard' } }, 'pass'],
  ['function', call({ type: 'function', name: 'f' }), 'pass'],
  ['custom', call({ type: 'custom', name: 'f' }), 'pass'],
  ['local_shell', call({ type: 'local_shell' }), 'pass'],
  ['apply_patch', call({ type: 'apply_patch' }), 'pass'],
  ['computer', call({ type: 'computer' }, { type: 'computer_use_preview' }), 'pass'],
  ['namespace', call({ type: 'namespace', tools: [{ type: 'function', name: 'f' }] }), 'pass'],
  ['shell of the client', call({ type: 'shell', environment: { type: 'local' } }), 'pass'],
  [
    'shell in a container',
    call({ type: 'shell', environment: { type: 'container_auto' } }),
    'unpriced tools',
  ],
  ['shell anywhere', call({ type: 'shell' }), 'unpriced tools'],
  ['tool_search', call({ type: 'tool_search' }, { type: 'tool_search', execution: 'client' }), 'pass'],
  ['mcp', call({ type: 'mcp', server_label: 's', server_url: 'https://mcp.example.com' }), 'pass'],
  ['web_search', call({ type: 'web_search' }), 'unpriced tools', 'webSearch'],
  ['web_search_2025_08_26', call({ type: 'web_search_2025_08_26' }), 'unpriced tools', 'webSearch'],
  [
    'web_search_preview_2025_03_11',
    call({ type: 'web_search_preview_2025_03_11' }),
    'unpriced tools',
    'webSearchPreview',
  ],
  ['file_search', call({ type: 'file_search', vector_store_ids: [] }), 'unpriced tools'],
  ['code_interpreter', call({ type: 'code_interpreter', container: { type: 'auto' } }), 'unpriced tools'],
  ['image_generation', call({ type: 'image_generation' }), 'unpriced tools'],
  [
    'image_generation with a model',
    call({ type: 'image_generation', model: 'gpt-image-2' }),
    'refused tools',
  ],
  [
    'image_generation with an SVG author',
    call({ type: 'image_generation', svg: { model: 'o' } }),
    'refused tools',
  ],
  ['programmatic_tool_calling', call({ type: 'programmatic_tool_calling' }), 'unpriced tools'],
  ['a type that nobody knows', call({ type: 'teleport' }), 'unpriced tools'],
  ['no type', call({ name: 'f' }), 'refused tools'],
  ['additional_tools', HIDDEN({ type: 'function', name: 'f' }), 'pass'],
  ['additional_tools web_search', HIDDEN({ type: 'web_search' }), 'unpriced input', 'webSearch'],
  ['additional_tools file_search', HIDDEN({ type: 'file_search' }), 'unpriced input'],
  ['additional_tools with a model', HIDDEN({ type: 'function', model: 'other' }), 'refused input'],
  ['tool_search_output web_search', FOUND({ type: 'web_search' }), 'unpriced input', 'webSearch'],
  [
    'namespace in additional_tools',
    HIDDEN({ type: 'namespace', tools: [{ type: 'image_generation' }] }),
    'unpriced input',
  ],
  [
    'mcp_list_tools',
    { input: [{ type: 'mcp_list_tools', tools: [{ name: 'f', input_schema: {} }] }] },
    'pass',
  ],
  ['moderation', { moderation: { model: 'omni-moderation-latest' } }, 'refused moderation'],
  ['background', { background: true }, 'refused background'],
  ['prompt_cache_retention', { prompt_cache_retention: '24h' }, 'pass'],
  ['prompt_cache_options 30m', { prompt_cache_options: { mode: 'explicit', ttl: '30m' } }, 'pass'],
  ['prompt_cache_options without a ttl', { prompt_cache_options: { mode: 'implicit' } }, 'pass'],
  [
    'prompt_cache_options 12h',
    { prompt_cache_options: { mode: 'implicit', ttl: '12h' } },
    'unpriced prompt_cache_options',
    'cacheWrite1h',
  ],
  [
    'a breakpoint of 12h in a part of the input',
    { input: [{ role: 'user', content: [{ type: 'input_text', text: 'a', ...BREAKPOINT_12H }] }] },
    'unpriced prompt_cache_breakpoint',
    'cacheWrite1h',
  ],
  [
    'a breakpoint of 12h in what a tool found',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_text', text: 'a', ...BREAKPOINT_12H }],
        },
      ],
    },
    'unpriced prompt_cache_breakpoint',
    'cacheWrite1h',
  ],
  [
    'a breakpoint of 12h in the instructions',
    { instructions: [{ role: 'user', content: [{ type: 'input_text', text: 'a', ...BREAKPOINT_12H }] }] },
    'unpriced prompt_cache_breakpoint',
    'cacheWrite1h',
  ],
  ['context_management', { context_management: [{ type: 'compaction', compact_threshold: 1_000 }] }, 'pass'],
];

const HOUR = { type: 'ephemeral', ttl: '1h' };
const block = (inner: unknown) => ({ messages: [{ role: 'user', content: [inner] }] });
const ADDED = (definition: unknown) =>
  block({ type: 'tool_addition', tool: { type: 'tool_definition', definition } });

const MESSAGES: readonly Row[] = [
  ['service_tier auto', { service_tier: 'auto' }, 'pass'],
  ['service_tier standard_only', { service_tier: 'standard_only' }, 'pass'],
  ['service_tier priority', { service_tier: 'priority' }, 'unpriced service_tier', 'tier priority'],
  ['speed standard', { speed: 'standard' }, 'pass'],
  ['speed fast', { speed: 'fast' }, 'unpriced speed', 'tier fast'],
  ['inference_geo global', { inference_geo: 'global' }, 'pass'],
  ['inference_geo us', { inference_geo: 'us' }, 'unpriced inference_geo', 'tier us'],
  ['cache_control', { cache_control: { type: 'ephemeral' } }, 'pass'],
  ['cache_control 5m', { cache_control: { type: 'ephemeral', ttl: '5m' } }, 'pass'],
  ['cache_control 1h', { cache_control: HOUR }, 'unpriced cache_control', 'cacheWrite1h'],
  [
    'cache_control of a lifetime that nobody knows',
    { cache_control: { ttl: '1d' } },
    'unpriced cache_control',
    'cacheWrite1h',
  ],
  [
    'system 1h',
    { system: [{ type: 'text', text: 'a', cache_control: HOUR }] },
    'unpriced cache_control',
    'cacheWrite1h',
  ],
  ['tools 1h', call({ name: 'f', cache_control: HOUR }), 'unpriced cache_control', 'cacheWrite1h'],
  [
    'messages 1h',
    block({ type: 'text', text: 'a', cache_control: HOUR }),
    'unpriced cache_control',
    'cacheWrite1h',
  ],
  [
    'a tool result 1h',
    block({
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'text', text: 'a', cache_control: HOUR }],
    }),
    'unpriced cache_control',
    'cacheWrite1h',
  ],
  ['an added tool 1h', ADDED({ name: 'f', cache_control: HOUR }), 'unpriced cache_control', 'cacheWrite1h'],
  ['tools of the client', call({ name: 'f' }, { type: 'custom', name: 'g' }), 'pass'],
  [
    'bash, editor, memory',
    call({ type: 'bash_20250124' }, { type: 'text_editor_20250728' }, { type: 'memory_20250818' }),
    'pass',
  ],
  [
    'computer, browser',
    call({ type: 'computer_toolset_20260801' }, { type: 'browser_toolset_20260801' }),
    'pass',
  ],
  [
    'tool_search_tool',
    call({ type: 'tool_search_tool_bm25_20251119' }, { type: 'tool_search_tool_regex' }),
    'pass',
  ],
  ['web_search', call({ type: 'web_search_20250305' }), 'unpriced tools', 'webSearch'],
  ['web_fetch', call({ type: 'web_fetch_20260318' }), 'pass'],
  ['mcp_servers', { mcp_servers: [{ type: 'url', name: 's', url: 'https://mcp.example.com' }] }, 'pass'],
  ['mcp_toolset', call({ type: 'mcp_toolset', mcp_server_name: 's' }), 'pass'],
  ['code_execution', call({ type: 'code_execution_20260521' }), 'unpriced tools'],
  ['container', { container: { skills: [] } }, 'unpriced container'],
  [
    'advisor',
    call({ type: 'advisor_20260301', name: 'advisor', model: 'claude-fable-5-1' }),
    'refused tools',
  ],
  ['a type that nobody knows', call({ type: 'oracle_20270101' }), 'unpriced tools'],
  ['a tool with a model', call({ type: 'web_fetch_20270101', model: 'other' }), 'refused tools'],
  ['tool_addition of the client', ADDED({ name: 'f', input_schema: {} }), 'pass'],
  ['tool_addition web_search', ADDED({ type: 'web_search_20250305' }), 'unpriced messages', 'webSearch'],
  [
    'tool_addition advisor',
    ADDED({ type: 'advisor_20260301', model: 'claude-fable-5-1' }),
    'refused messages',
  ],
  [
    'tool_changes of a summary',
    block({
      type: 'compaction',
      content: 'a',
      tool_changes: [
        {
          type: 'tool_addition',
          tool: { type: 'tool_definition', definition: { type: 'code_execution_20260521' } },
        },
      ],
    }),
    'unpriced messages',
  ],
  ['fallbacks', { fallbacks: [{ model: 'other' }] }, 'refused fallbacks'],
  ['fallbacks default', { fallbacks: 'default' }, 'refused fallbacks'],
  ['thread', { thread: { type: 'continue', previous_message_id: 'msg_1' } }, 'refused thread'],
  [
    'billing_policy',
    { billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } },
    'refused billing_policy',
  ],
  ['context_management', { context_management: { edits: [{ type: 'compact_20260112' }] } }, 'pass'],
];

const PLAIN: Readonly<Record<Path, Record<string, unknown>>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'a' }] },
  '/v1/responses': { input: 'a' },
  '/v1/messages': { messages: [{ role: 'user', content: 'a' }], max_tokens: 10 },
  '/v1/completions': { prompt: 'a' },
  '/v1/embeddings': { input: 'a' },
};
const TIER: readonly Row[] = [
  ['service_tier', { service_tier: 'priority' }, 'unpriced service_tier', 'tier priority'],
  ['service_tier default', { service_tier: 'default' }, 'pass'],
];

const CODES: Readonly<Record<string, string>> = { unpriced: 'unpriced_parameter', refused: 'invalid_field' };

function expected(treatment: string): string | undefined {
  if (treatment === 'pass') return undefined;
  const [code = '', param = ''] = treatment.split(' ');
  return `${CODES[code]} ${param}`;
}

/** A model that has a price for what the last column of a row names. */
function pricedFor(path: Path, priced: string) {
  const [, tier] = /^tier (.+)$/.exec(priced) ?? [];
  const units = { input: 1, output: 1 };
  return modelAt(path, {
    price: tier ? creditPrice(units, { [tier]: 2 }) : creditPrice({ ...units, [priced]: 3 }),
  });
}

for (const [path, rows] of Object.entries({
  '/v1/chat/completions': CHAT,
  '/v1/responses': RESPONSES,
  '/v1/messages': MESSAGES,
  '/v1/completions': TIER,
  '/v1/embeddings': TIER,
}) as [Path, readonly Row[]][]) {
  test(`${path}: every member that can cost something is priced or refused`, (t) => {
    for (const [field, body, treatment, priced] of rows) {
      const sent = { ...PLAIN[path], ...body };
      t.equal(refusalOf(path, modelAt(path), sent), expected(treatment), field);
      if (priced !== undefined) {
        t.equal(
          refusalOf(path, pricedFor(path, priced), sent),
          undefined,
          `${field}: with a price of ${priced}`,
        );
      }
    }
    t.end();
  });

  test(`${path}: a free model gives away everything but other models`, (t) => {
    for (const [field, body, treatment] of rows) {
      const refused = treatment.startsWith('refused') ? expected(treatment) : undefined;
      const free = modelAt(path, { price: creditPrice({}), priceSource: 'free' });
      t.equal(refusalOf(path, free, { ...PLAIN[path], ...body }), refused, field);
    }
    t.end();
  });
}
