import { test } from 'tap';
import {
  chat,
  image,
  message,
  messageStream,
  PICTURES,
  type Row,
  response,
  responseUsage,
  transcript,
} from '../helper/fixtures/vendor-answers.ts';
import { checkRow, startScriptedGateway } from '../helper/start/broken-stream.ts';

const DETAILS = {
  accepted_prediction_tokens: 3,
  rejected_prediction_tokens: 4,
  audio_tokens: 2,
  reasoning_tokens: 1,
};
const ROWS: readonly Row[] = [
  chat(
    'sound, predictions and reasoning are inside the output, sound inside the input',
    {
      prompt_tokens: 19,
      completion_tokens: 20,
      total_tokens: 39,
      prompt_tokens_details: { cached_tokens: 5, audio_tokens: 7, image_tokens: 0, text_tokens: 12 },
      completion_tokens_details: DETAILS,
    },
    { input: 7, cachedInput: 5, inputAudio: 7, output: 18, outputAudio: 2 },
  ),
  chat(
    'a prompt that was written to a cache is inside the input',
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 60 },
    },
    { input: 30, cachedInput: 10, cacheWrite: 60, output: 5 },
  ),
  chat(
    'more cached than there was is all of it',
    { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 11 } },
    { input: 0, cachedInput: 10, output: 5 },
  ),
  chat(
    'details that are null or negative are none',
    { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: -4 } },
    { input: 10, cachedInput: 0, output: 5 },
  ),
  chat(
    'zero stays zero',
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    { input: 0, output: 0 },
  ),
  response(
    'searches are read as input',
    {
      output: [
        {
          type: 'web_search_call',
          id: 'ws_67ccf18ef5fc8190b16dbee19bc54e5f087bb177ab789d5c',
          status: 'completed',
          action: { type: 'search', query: 'positive news', sources: [] },
        },
      ],
      usage: responseUsage(328, 28, 0, 356, 300),
    },
    { input: 300, cachedInput: 28, output: 356, webSearches: 1 },
  ),
  response(
    'one that is incomplete',
    {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: responseUsage(30, 0, 10, 16, 16),
    },
    { input: 20, cachedInput: 0, cacheWrite: 10, output: 16 },
  ),
  response(
    'one that failed, and says what it used',
    {
      status: 'failed',
      error: { code: 'server_error', message: 'The model failed to generate a response.' },
      usage: responseUsage(30, 0, 0, 7, 0),
    },
    { input: 30, output: 7 },
    'upstream_error',
  ),
  message(
    'what is read from and written to a cache is outside the input',
    {
      input_tokens: 2_095,
      cache_creation_input_tokens: 2_051,
      cache_read_input_tokens: 2_051,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 1_051 },
      output_tokens: 503,
      output_tokens_details: { thinking_tokens: 400 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      service_tier: 'standard',
      inference_geo: null,
      speed: 'standard',
    },
    { input: 2_095, cachedInput: 2_051, cacheWrite: 1_000, cacheWrite1h: 1_051, output: 503, webSearches: 2 },
  ),
  message(
    'what is null is absent',
    {
      input_tokens: 5,
      cache_creation: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      output_tokens: 6,
      server_tool_use: null,
      service_tier: null,
    },
    { input: 5, cachedInput: 0, cacheWrite: 0, output: 6 },
  ),
  message('zero stays zero', { input_tokens: 0, output_tokens: 0 }, { input: 0, output: 0 }),
  messageStream(
    'counts are cumulative, and the last of each counts',
    { input_tokens: 472, cache_read_input_tokens: 10, cache_creation_input_tokens: 0, output_tokens: 2 },
    [
      { output_tokens: 50 },
      {
        input_tokens: 10_682,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 12,
        output_tokens: 510,
        output_tokens_details: null,
        server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
      },
    ],
    { input: 10_682, cachedInput: 12, cacheWrite: 3, output: 510, webSearches: 1 },
  ),
  messageStream(
    'input that the last count repeats as null is as it was',
    { input_tokens: 25, cache_read_input_tokens: 10, cache_creation_input_tokens: 4, output_tokens: 1 },
    [
      {
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: 15,
        server_tool_use: null,
      },
    ],
    { input: 25, cachedInput: 10, cacheWrite: 4, output: 15 },
  ),
  image(
    'by token, in detail',
    'painter',
    {
      background: 'transparent',
      output_format: 'png',
      size: '1024x1024',
      quality: 'high',
      data: PICTURES,
      usage: {
        total_tokens: 100,
        input_tokens: 50,
        output_tokens: 50,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
        output_tokens_details: { text_tokens: 0, image_tokens: 50 },
      },
    },
    { images: 2, input: 10, inputImage: 40, output: 0, outputImage: 50 },
  ),
  image('by picture, where nothing is reported', 'picture', { data: PICTURES }, { images: 2 }),
  image('one picture where two were asked for', 'picture', { data: PICTURES.slice(1) }, { images: 1 }),
  transcript(
    'tokens of gpt-4o-transcribe',
    'scribe',
    {
      usage: {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { text_tokens: 10, audio_tokens: 4 },
        output_tokens: 101,
        total_tokens: 115,
      },
    },
    { input: 10, inputAudio: 4, output: 101, audioSeconds: 2 },
  ),
  transcript(
    'whole seconds of whisper-1',
    'ears',
    { usage: { type: 'duration', seconds: 3 } },
    { audioSeconds: 3 },
  ),
  transcript(
    'the duration of a verbose answer',
    'ears',
    { task: 'transcribe', language: 'english', duration: 1.5, segments: [] },
    { audioSeconds: 1.5 },
  ),
  transcript(
    'zero seconds stay zero',
    'ears',
    { usage: { type: 'duration', seconds: 0 } },
    { audioSeconds: 0 },
  ),
];

test('answers as the vendors document them', async (t) => {
  const world = await startScriptedGateway(t);
  for (const { what, path, body, answer, contentType, usage, outcome = 'complete' } of ROWS) {
    await t.test(what, async (st) => {
      const ended = await world.end({
        path,
        body: typeof body === 'function' ? body() : JSON.stringify(body),
        behavior: {
          ...(answer === undefined ? {} : { body: answer }),
          ...(contentType ? { headers: { 'content-type': contentType } } : {}),
        },
      });
      st.match(ended.heard, { status: 200, isWhole: true });
      await checkRow(st, world, ended, { status: 200, outcome }, { usage, estimated: false });
    });
  }
});
