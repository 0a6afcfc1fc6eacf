import {
  ANTHROPIC,
  chat,
  type DimensionRow,
  message,
  OPENAI,
  response,
  SEARCH,
  START,
  transcript,
} from './dimension-row.ts';

/** Answers that are billed otherwise than their counts say at first sight, and those of sound. */
export const BILLS: readonly DimensionRow[] = [
  chat(
    {
      what: 'reasoning that only the total has is output',
      from: 'xAI API reference, "Chat completions", usage',
      usage: { input: 26, cachedInput: 6, output: 103 },
      micros: 26 * 2 + 6 * 0.5 + 103 * 8,
    },
    {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
      completion_tokens_details: {
        reasoning_tokens: 94,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
      num_sources_used: 0,
    },
    'default',
  ),
  chat(
    {
      what: 'thoughts that no detail names are output',
      from: 'Gemini API, "OpenAI compatibility", usage',
      usage: { input: 20, cachedInput: 0, output: 996 },
      micros: 20 * 2 + 996 * 8,
    },
    { prompt_tokens: 20, completion_tokens: 424, total_tokens: 1_016 },
    'default',
  ),
  chat(
    {
      what: 'a total that is less than its parts changes nothing',
      from: `${OPENAI}, CompletionUsage, with a total that is too small`,
      usage: { input: 20, cachedInput: 0, output: 424 },
      micros: 20 * 2 + 424 * 8,
    },
    { prompt_tokens: 20, completion_tokens: 424, total_tokens: 400 },
    'default',
  ),
  chat(
    {
      what: 'cached tokens beside the totals',
      from: 'Moonshot AI API reference (Kimi), "Chat completion", usage',
      usage: { input: 19, cachedInput: 81, output: 10 },
      micros: 19 * 2 + 81 * 0.5 + 10 * 8,
    },
    { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cached_tokens: 81 },
    'default',
  ),
  chat(
    {
      what: 'hits of the cache',
      from: 'DeepSeek API reference, "Create chat completion", usage',
      usage: { input: 36, cachedInput: 64, output: 10 },
      micros: 36 * 2 + 64 * 0.5 + 10 * 8,
    },
    {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 110,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    'default',
  ),
  response(
    {
      what: 'writes for 12 hours are those of the longer life',
      from: `${OPENAI}, ResponseUsage.InputTokensDetails.CacheWriteTokensDetails`,
      usage: { input: 300, cachedInput: 0, cacheWrite: 100, cacheWrite1h: 600, output: 10 },
      micros: 300 * 2 + 100 * 2.5 + 600 * 4 + 10 * 8,
      body: { prompt_cache_options: { mode: 'explicit', ttl: '12h' } },
    },
    {
      input_tokens: 1_000,
      input_tokens_details: {
        cached_tokens: 0,
        cache_write_tokens: 700,
        cache_write_tokens_details: { ttl_12h_tokens: 600, ttl_30m_tokens: 100 },
      },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1_010,
    },
    'default',
  ),
  response(
    {
      what: 'writes that the report does not divide are all of the longer life where one is asked for',
      from: `${OPENAI}, ResponseUsage.InputTokensDetails`,
      usage: { input: 300, cachedInput: 0, cacheWrite1h: 700, output: 10 },
      micros: 300 * 2 + 700 * 4 + 10 * 8,
      body: {
        input: [
          {
            role: 'user',
            content: [
              {
                type: 'input_text',
                text: 'Hi',
                prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' },
              },
            ],
          },
        ],
      },
    },
    {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 700 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1_010,
    },
    'default',
  ),
  chat(
    {
      what: 'writes that are not divided, for 12 hours',
      from: `${OPENAI}, CompletionUsage.PromptTokensDetails.cache_write_tokens`,
      usage: { input: 300, cachedInput: 0, cacheWrite1h: 700, output: 10 },
      micros: 300 * 2 + 700 * 4 + 10 * 8,
      body: { prompt_cache_options: { ttl: '12h' } },
    },
    {
      prompt_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 700 },
      completion_tokens: 10,
      total_tokens: 1_010,
    },
    'default',
  ),
  message(
    {
      what: 'writes that are not divided, for an hour',
      from: `${ANTHROPIC}, Usage with cache_creation null`,
      usage: { input: 60, cachedInput: 0, cacheWrite: 0, cacheWrite1h: 700, output: 30 },
      micros: 60 * 2 + 700 * 4 + 30 * 8,
      tiers: ['standard'],
      body: { system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    },
    { ...START, cache_creation_input_tokens: 700 },
    { output_tokens: 30 },
  ),
  response(
    {
      what: 'searches that are billed are those that tool_usage has, not the items',
      from: `${OPENAI}, Response.ToolUsage.WebSearch`,
      usage: { input: 100, cachedInput: 0, output: 50, webSearches: 6 },
      micros: 100 * 2 + 50 * 8,
      fees: 6 * 10_000,
    },
    { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
    'default',
    [
      { ...SEARCH, id: 'ws_1', action: { type: 'search', queries: ['a', 'b', 'c', 'd', 'e'] } },
      { ...SEARCH, id: 'ws_2', action: { type: 'search', queries: ['f'] } },
    ],
    { tool_usage: toolUsage(6) },
  ),
  response(
    {
      what: 'searches by a preview tool, which a group may hold, have a price of their own',
      from: `${OPENAI}, WebSearchPreviewTool, ResponseFunctionWebSearch`,
      usage: { input: 100, cachedInput: 0, output: 50, webSearchPreviews: 2 },
      micros: 100 * 2 + 50 * 8,
      fees: 2 * 25_000,
      body: {
        tools: [{ type: 'namespace', name: 'web', tools: [{ type: 'web_search_preview_2025_03_11' }] }],
      },
    },
    { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
    'default',
    [
      { ...SEARCH, id: 'ws_1', action: { type: 'search', queries: ['a'] } },
      { ...SEARCH, id: 'ws_2', action: { type: 'search', queries: ['b'] } },
    ],
  ),
  response(
    {
      what: 'a search that tool_usage does not bill is free',
      from: `${OPENAI}, Response.ToolUsage.WebSearch`,
      usage: { input: 100, cachedInput: 0, output: 50 },
      micros: 100 * 2 + 50 * 8,
    },
    { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
    'default',
    [{ ...SEARCH, id: 'ws_1', action: { type: 'search', queries: ['a'] } }],
    { tool_usage: toolUsage(0) },
  ),
  transcript(
    {
      what: 'sound in tokens',
      usage: { audioSeconds: 2, input: 10, cachedInput: 0, inputAudio: 4, output: 101 },
      micros: 2 * 100 + 10 * 2 + 4 * 32 + 101 * 8,
    },
    {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 10, audio_tokens: 4 },
      output_tokens: 101,
      total_tokens: 115,
    },
  ),
  transcript(
    {
      what: 'input that is not divided is sound',
      usage: { audioSeconds: 2, input: 0, cachedInput: 0, inputAudio: 14, output: 101 },
      micros: 2 * 100 + 14 * 32 + 101 * 8,
    },
    { type: 'tokens', input_tokens: 14, output_tokens: 101, total_tokens: 115 },
  ),
  {
    what: 'speech: the output is sound',
    from: 'OpenAI API reference, "Create speech", event speech.audio.done',
    path: '/v1/audio/speech',
    model: 'voice',
    body: { voice: 'alloy', input: 'Hello', stream_format: 'sse' },
    events: [
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
    ],
    usage: { characters: 5, input: 14, cachedInput: 0, output: 0, outputAudio: 101 },
    micros: 5 * 15 + 14 * 2 + 101 * 64,
  },
];

/** `tool_usage` of a response: families without use have counts of 0. */
function toolUsage(searches: number): object {
  return {
    image_gen: {
      input_tokens: 0,
      input_tokens_details: { image_tokens: 0, text_tokens: 0 },
      output_tokens: 0,
      total_tokens: 0,
    },
    web_search: { num_requests: searches },
  };
}
