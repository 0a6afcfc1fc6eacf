import {
  ANTHROPIC,
  chat,
  type DimensionRow,
  message,
  OPENAI,
  picture,
  response,
  transcript,
} from './dimension-row.ts';

const BETA = `${ANTHROPIC}, BetaUsage.iterations`;
const SEARCH = { type: 'web_search_call', status: 'completed' };
const ITERATION = { cache_creation: null, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
const OWN = { ...ITERATION, type: 'message', model: 'claude-opus-5-5', input_tokens: 60, output_tokens: 30 };
const START = { ...ITERATION, input_tokens: 60, server_tool_use: null, service_tier: 'standard' };

export const DIMENSIONS: readonly DimensionRow[] = [
  chat(
    {
      what: 'sound in and out; cached tokens are text, since the discount of sound is the larger one',
      usage: { input: 30, cachedInput: 30, inputAudio: 40, output: 30, outputAudio: 20 },
      micros: 30 * 2 + 30 * 0.5 + 40 * 32 + 30 * 8 + 20 * 64,
    },
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 30, audio_tokens: 40, text_tokens: 60, image_tokens: 0 },
      completion_tokens_details: { audio_tokens: 20, text_tokens: 30, reasoning_tokens: 5 },
    },
    'default',
  ),
  chat(
    {
      what: 'a prompt written to a cache, served with priority',
      usage: { input: 500, cachedInput: 500, cacheWrite: 1_000, output: 100 },
      micros: 500 * 2 + 500 * 0.5 + 1_000 * 2.5 + 100 * 8,
      times: 2,
    },
    {
      prompt_tokens: 2_000,
      completion_tokens: 100,
      total_tokens: 2_100,
      prompt_tokens_details: { cached_tokens: 500, cache_write_tokens: 1_000 },
    },
    'priority',
  ),
  chat(
    {
      what: 'more cached tokens than there is text: the others are pictures',
      usage: { input: 0, cachedInput: 300, inputImage: 600, cachedInputImage: 100, output: 10 },
      micros: 300 * 0.5 + 600 * 5 + 100 * 1.25 + 10 * 8,
    },
    {
      prompt_tokens: 1_000,
      completion_tokens: 10,
      total_tokens: 1_010,
      prompt_tokens_details: { cached_tokens: 400, image_tokens: 700, text_tokens: 300 },
    },
    'default',
  ),
  chat(
    {
      what: 'a search that was asked for, in the flex tier',
      usage: { input: 10, cachedInput: 0, output: 20, webSearches: 1 },
      micros: 10 * 2 + 20 * 8 + 10_000,
      times: 0.5,
      body: { web_search_options: { search_context_size: 'low' } },
    },
    { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
    'flex',
  ),
  chat(
    {
      what: 'details that exceed their totals are cut down to them',
      usage: { input: 0, cachedInput: 0, inputAudio: 3, cachedInputAudio: 7, output: 0, outputAudio: 5 },
      micros: 3 * 32 + 7 * 0.4 + 5 * 64,
    },
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 7, audio_tokens: 90, image_tokens: 4 },
      completion_tokens_details: { audio_tokens: 6 },
    },
    'scale',
  ),
  response(
    {
      what: 'searches: opening a page is none, and a call that does not say what it did is one',
      usage: { input: 300, cachedInput: 28, cacheWrite: 100, output: 356, webSearches: 2 },
      micros: 300 * 2 + 28 * 0.5 + 100 * 2.5 + 356 * 8 + 2 * 10_000,
      times: 2,
    },
    {
      input_tokens: 428,
      input_tokens_details: {
        cached_tokens: 28,
        cache_write_tokens: 100,
        cache_write_tokens_details: { ttl_12h_tokens: 0, ttl_30m_tokens: 100 },
      },
      output_tokens: 356,
      output_tokens_details: { reasoning_tokens: 300 },
      total_tokens: 784,
    },
    'priority',
    [
      { ...SEARCH, id: 'ws_1', action: { type: 'search', queries: ['positive news'], sources: [] } },
      { ...SEARCH, id: 'ws_2', action: { type: 'open_page', url: 'https://example.com' } },
      { ...SEARCH, id: 'ws_3', action: { type: 'find_in_page', pattern: 'a', url: 'https://example.com' } },
      { ...SEARCH, id: 'ws_4' },
    ],
  ),
  response(
    {
      what: 'sound and pictures, with the cached tokens of each',
      from: `${OPENAI}, RealtimeResponseUsage`,
      usage: {
        input: 10,
        cachedInput: 20,
        inputAudio: 35,
        cachedInputAudio: 5,
        inputImage: 22,
        cachedInputImage: 8,
        output: 4,
        outputAudio: 6,
      },
      micros: 10 * 2 + 20 * 0.5 + 35 * 32 + 5 * 0.4 + 22 * 5 + 8 * 1.25 + 4 * 8 + 6 * 64,
    },
    {
      input_tokens: 100,
      input_token_details: {
        text_tokens: 30,
        audio_tokens: 40,
        image_tokens: 30,
        cached_tokens: 33,
        cached_tokens_details: { text_tokens: 20, audio_tokens: 5, image_tokens: 8 },
      },
      output_tokens: 10,
      output_token_details: { text_tokens: 4, audio_tokens: 6 },
      total_tokens: 110,
    },
    'default',
  ),
  {
    what: 'completions: as chat, and no details',
    from: `${OPENAI}, Completion, CompletionUsage`,
    path: '/v1/completions',
    model: 'text',
    body: { prompt: 'Hi', max_tokens: 5 },
    json: {
      id: 'cmpl-1',
      object: 'text_completion',
      choices: [{ index: 0, text: 'Hello!', logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    },
    events: [
      { id: 'cmpl-1', choices: [{ index: 0, text: 'Hello!', finish_reason: 'stop' }], usage: null },
      { id: 'cmpl-1', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
    ],
    usage: { input: 5, cachedInput: 0, output: 7 },
    micros: 5 * 2 + 7 * 8,
  },
  {
    what: 'embeddings: input only',
    from: `${OPENAI}, CreateEmbeddingResponse.Usage`,
    path: '/v1/embeddings',
    model: 'text',
    body: { input: 'Hi' },
    json: { object: 'list', data: [], usage: { prompt_tokens: 8, total_tokens: 8 } },
    usage: { input: 8, cachedInput: 0 },
    micros: 8 * 2,
  },
  message(
    {
      what: 'writes for an hour, searches, speed and region',
      usage: {
        input: 2_095,
        cachedInput: 2_051,
        cacheWrite: 1_000,
        cacheWrite1h: 1_051,
        output: 503,
        webSearches: 2,
      },
      micros: 2_095 * 2 + 2_051 * 0.5 + 1_000 * 2.5 + 1_051 * 4 + 503 * 8 + 2 * 10_000,
      times: 6.6,
      tiers: ['standard', 'fast', 'us'],
    },
    {
      input_tokens: 2_095,
      cache_creation_input_tokens: 2_051,
      cache_read_input_tokens: 2_051,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 1_051 },
      service_tier: 'standard',
      speed: 'fast',
      inference_geo: 'us',
    },
    {
      input_tokens: 2_095,
      cache_creation_input_tokens: 2_051,
      cache_read_input_tokens: 2_051,
      output_tokens: 503,
      output_tokens_details: { thinking_tokens: 400 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 3 },
    },
  ),
  message(
    {
      what: 'what is null is not reported: then what was asked for counts',
      usage: { input: 5, cachedInput: 0, cacheWrite: 0, output: 6 },
      micros: 5 * 2 + 6 * 8,
      times: 6,
      tiers: ['standard', 'fast', 'not_available'],
      body: { speed: 'fast', inference_geo: 'us' },
    },
    {
      input_tokens: 5,
      cache_creation: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      service_tier: 'standard',
      speed: null,
      inference_geo: 'not_available',
    },
    { output_tokens: 6, server_tool_use: null },
  ),
  message(
    {
      what: 'compacting is beside the totals, with its writes',
      from: `${BETA}, BetaCompactionIterationUsage`,
      usage: { input: 1_060, cachedInput: 7, cacheWrite: 10, cacheWrite1h: 20, output: 130 },
      micros: 1_060 * 2 + 7 * 0.5 + 10 * 2.5 + 20 * 4 + 130 * 8,
      tiers: ['standard'],
    },
    START,
    {
      output_tokens: 30,
      iterations: [
        {
          type: 'compaction',
          input_tokens: 1_000,
          output_tokens: 100,
          cache_read_input_tokens: 7,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        },
        OWN,
      ],
    },
  ),
  message(
    {
      what: 'an advisor is another model: its tokens are charged at the price of this one, as an estimate',
      from: `${BETA}, BetaAdvisorMessageIterationUsage`,
      usage: { input: 50_060, cachedInput: 0, cacheWrite: 0, output: 5_030 },
      micros: 50_060 * 2 + 5_030 * 8,
      tiers: ['standard'],
      isEstimated: true,
    },
    START,
    {
      output_tokens: 30,
      iterations: [
        OWN,
        {
          ...ITERATION,
          type: 'advisor_message',
          model: 'claude-fable-5-1',
          input_tokens: 50_000,
          output_tokens: 5_000,
        },
      ],
    },
  ),
  message(
    {
      what: 'a fallback that the totals hold is not charged twice',
      from: `${BETA}, BetaFallbackMessageIterationUsage`,
      usage: { input: 60, cachedInput: 0, cacheWrite: 0, output: 30 },
      micros: 60 * 2 + 30 * 8,
      tiers: ['standard'],
      isEstimated: true,
    },
    START,
    {
      output_tokens: 30,
      iterations: [{ ...OWN, type: 'fallback_message', model: 'claude-sonnet-5-5' }],
    },
  ),
  message(
    {
      what: 'a model call of a new type that the totals do not hold is charged beside them',
      from: `${BETA}, with a type that is in no version`,
      usage: { input: 75, cachedInput: 4, cacheWrite: 0, output: 39 },
      micros: 75 * 2 + 4 * 0.5 + 39 * 8,
      tiers: ['standard'],
      isEstimated: true,
    },
    START,
    {
      output_tokens: 30,
      iterations: [
        OWN,
        { ...ITERATION, type: 'review', input_tokens: 15, cache_read_input_tokens: 4, output_tokens: 9 },
      ],
    },
  ),
  picture(
    {
      what: 'the output is pictures but for what is told as text',
      usage: { images: 1, input: 10, cachedInput: 0, inputImage: 40, output: 6, outputImage: 4_160 },
      micros: 1_000 + 10 * 2 + 40 * 5 + 6 * 8 + 4_160 * 40,
    },
    {
      total_tokens: 4_216,
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens: 4_166,
      output_tokens_details: { text_tokens: 6, image_tokens: 4_160 },
    },
    undefined,
  ),
  picture(
    {
      what: 'without details of the output it is pictures',
      usage: { images: 1, input: 10, cachedInput: 0, inputImage: 40, output: 0, outputImage: 50 },
      micros: 1_000 + 10 * 2 + 40 * 5 + 50 * 40,
    },
    {
      total_tokens: 100,
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens: 50,
    },
    {
      total_tokens: 100,
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens: 50,
    },
  ),
  picture(
    {
      what: 'pictures and text that were cached',
      from: `${OPENAI}, Response.ToolUsage.ImageGen`,
      usage: {
        images: 1,
        input: 6,
        cachedInput: 4,
        inputImage: 30,
        cachedInputImage: 10,
        output: 0,
        outputImage: 50,
      },
      micros: 1_000 + 6 * 2 + 4 * 0.5 + 30 * 5 + 10 * 1.25 + 50 * 40,
    },
    {
      total_tokens: 100,
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      cached_tokens: 14,
      cached_tokens_details: { cached_text_tokens: 4, cached_image_tokens: 10 },
      output_tokens: 50,
    },
    undefined,
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
