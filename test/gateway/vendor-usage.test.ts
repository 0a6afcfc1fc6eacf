import { test } from 'tap';
import type { Behaviour } from '../../src/demo/behaviour.ts';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { MAX_CREDITS } from '../../src/domain/credits.ts';
import type { Usage } from '../../src/domain/ledger-entry.ts';
import { FREE_PRICE, priceFromCredits } from '../../src/domain/price.ts';
import { checkRow, startBreakingWorld } from '../helper/broken-stream.ts';
import { lastCharge } from '../helper/last-charge.ts';
import { silentWav } from '../helper/media-world.ts';
import { startWorld, testCatalog } from '../helper/world.ts';

/** Answers shaped as the vendors' references and the types of their SDKs have them, and what they come to. */
interface Row {
  readonly what: string;
  readonly path: string;
  readonly body: object | (() => FormData);
  readonly answer: Behaviour['body'];
  readonly contentType?: string;
  readonly usage: Usage;
  readonly outcome?: string;
}

const CHAT = { model: 'tokens', messages: [{ role: 'user', content: 'Hi' }] };
const chat = (what: string, usage: object, expected: Usage): Row => ({
  what: `chat: ${what}`,
  path: '/v1/chat/completions',
  body: CHAT,
  answer: {
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: 1_741_569_952,
    model: 'gpt-4.1-2025-04-14',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello!', refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
    service_tier: 'default',
  },
  usage: expected,
});

const response = (what: string, more: object, usage: Usage, outcome = 'complete'): Row => ({
  what: `responses: ${what}`,
  path: '/v1/responses',
  body: { model: 'tokens', input: 'Hi' },
  answer: {
    id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
    object: 'response',
    created_at: 1_741_476_542,
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [],
    ...more,
  },
  usage,
  outcome,
});
const responseUsage = (
  input: number,
  cached: number,
  written: number,
  output: number,
  reasoning: number,
) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

const MESSAGE = { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
const message = (what: string, usage: object, expected: Usage): Row => ({
  what: `messages: ${what}`,
  path: '/v1/messages',
  body: MESSAGE,
  answer: {
    id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-20250514',
    content: [{ type: 'text', text: 'Hi!', citations: null }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  },
  usage: expected,
});

const sse = (events: readonly ({ type: string } & Record<string, unknown>)[]): string[] =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
const messageStream = (what: string, start: object, deltas: readonly object[], usage: Usage): Row => ({
  what: `messages: ${what}`,
  path: '/v1/messages',
  body: { ...MESSAGE, stream: true },
  contentType: 'text/event-stream; charset=utf-8',
  answer: sse([
    { type: 'message_start', message: { id: 'msg_1', type: 'message', content: [], usage: start } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello!' } },
    { type: 'content_block_stop', index: 0 },
    ...deltas.map((delta, index) => ({
      type: 'message_delta',
      delta: { stop_reason: index === deltas.length - 1 ? 'end_turn' : null, stop_sequence: null },
      usage: delta,
    })),
    { type: 'message_stop' },
  ]),
  usage,
});

const image = (what: string, model: string, answer: object, usage: Usage): Row => ({
  what: `images: ${what}`,
  path: '/v1/images/generations',
  body: { model, prompt: 'A cat', n: 2 },
  answer: { created: 1_713_833_628, ...answer },
  usage,
});
const PICTURES = [{ b64_json: 'iVBORw0KGgo=' }, { b64_json: 'iVBORw0KGgo=' }];

const transcript = (what: string, model: string, answer: object, usage: Usage): Row => ({
  what: `transcriptions: ${what}`,
  path: '/v1/audio/transcriptions',
  body: () => {
    const form = new FormData();
    form.append('model', model);
    form.append('file', new Blob([silentWav(2)]), 'audio.wav');
    return form;
  },
  answer: { text: 'Imagine the wildest idea.', ...answer },
  usage,
});

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
    { input: 14, cachedInput: 5, output: 20 },
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
    { input: 300, cachedInput: 28, output: 356 },
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
    { input: 2_095, cachedInput: 2_051, cacheWrite: 2_051, output: 503 },
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
    { input: 10_682, cachedInput: 12, cacheWrite: 3, output: 510 },
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
    { images: 2, input: 50, output: 50 },
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
    { input: 14, output: 101, audioSeconds: 2 },
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
  const world = await startBreakingWorld(t);
  for (const { what, path, body, answer, contentType, usage, outcome = 'complete' } of ROWS) {
    await t.test(what, async (st) => {
      const ended = await world.end({
        path,
        body: typeof body === 'function' ? body() : JSON.stringify(body),
        behaviour: {
          ...(answer === undefined ? {} : { body: answer }),
          ...(contentType ? { headers: { 'content-type': contentType } } : {}),
        },
      });
      st.match(ended.heard, { status: 200, isWhole: true });
      await checkRow(st, world, ended, { status: 200, outcome }, { usage, estimated: false });
    });
  }
});

/** Reports that are none, as `[input, output]`; text is sent as JSON source. */
const ABSURD: readonly (readonly [string, string])[] = [
  ['-1', '5'],
  ['5', '-1'],
  ['1.5', '5'],
  ['"5"', '5'],
  ['1e300', '5'],
  ['1e999', '5'],
  ['9007199254740993', '5'],
  ['1000000000', '5'],
  ['null', '5'],
  ['5', 'null'],
  ['{}', '5'],
  ['true', '5'],
];
const SAID = 'Hello there, how are you?';
const FORMATS = [
  {
    path: '/v1/chat/completions',
    body: CHAT,
    answer: `{"choices":[{"message":{"content":"${SAID}"}}],"usage":USAGE}`,
    names: ['prompt_tokens', 'completion_tokens'],
  },
  {
    path: '/v1/responses',
    body: { model: 'tokens', input: 'Hi' },
    answer: `{"output":[{"content":[{"text":"${SAID}"}]}],"usage":USAGE}`,
    names: ['input_tokens', 'output_tokens'],
  },
  {
    path: '/v1/messages',
    body: MESSAGE,
    answer: `{"content":[{"type":"text","text":"${SAID}"}],"usage":USAGE}`,
    names: ['input_tokens', 'output_tokens'],
  },
] as const;

test('a report that is negative, absurd or not whole is none: the row is an estimate', async (t) => {
  const world = await startBreakingWorld(t);
  for (const { path, body, answer, names } of FORMATS) {
    const [input, output] = names;
    const reports = [
      ...ABSURD.map(([read, written]) => `{"${input}":${read},"${output}":${written}}`),
      `{"${input}":5}`,
      `{"${output}":5}`,
      '{}',
      '[]',
      'null',
      '"none"',
    ];
    for (const report of reports) {
      await t.test(`${path}: ${report}`, async (st) => {
        const ended = await world.end({
          path,
          body: JSON.stringify(body),
          behaviour: {
            headers: { 'content-type': 'application/json' },
            body: answer.replace('USAGE', report),
          },
        });
        // "Hi" is a token, and the answer seven.
        await checkRow(
          st,
          world,
          ended,
          { status: 200, outcome: 'complete' },
          { usage: { output: 7 }, tokens: { input: 1 }, estimated: true },
        );
      });
    }
  }
});

test('seconds that are negative, absurd or no number are none: the audio is measured', async (t) => {
  const world = await startBreakingWorld(t);
  for (const seconds of ['-1', '1e300', '1e999', 'null', '"long"', '[]', '{}']) {
    const { path, body } = transcript('', 'ears', {}, {});
    const ended = await world.end({
      path,
      body: (body as () => FormData)(),
      behaviour: {
        headers: { 'content-type': 'application/json' },
        body: `{"text":"Hi","usage":{"type":"duration","seconds":${seconds}},"duration":${seconds}}`,
      },
    });
    const row = { status: 200, outcome: 'complete' };
    await checkRow(t, world, ended, row, { usage: { audioSeconds: 2 }, estimated: false });
  }
});

test('a report beyond the bound of the hold is believed: what the provider bills is charged', async (t) => {
  const world = await startBreakingWorld(t);
  const ended = await world.end({
    path: '/v1/chat/completions',
    body: JSON.stringify({ ...CHAT, max_tokens: 1 }),
    behaviour: { usage: { prompt_tokens: 900_000_000, completion_tokens: 900_000_000 } },
  });
  // 2,700,000 credits, of 1,000 that there are.
  await checkRow(
    t,
    world,
    ended,
    { status: 200, outcome: 'complete' },
    {
      usage: { input: 900_000_000, output: 900_000_000 },
      estimated: false,
    },
  );
  const again = await world.chat(ended.account.key, CHAT);
  t.equal(again.status, 402, 'and nothing more is admitted');
});

test('a report that would cost more than can be written is none, and the hold is released', async (t) => {
  const provider = await startDemoProvider({
    behave: () => ({ usage: { prompt_tokens: 999_999_999, completion_tokens: 1 } }),
  });
  t.teardown(() => provider.close());
  const catalog = new Map(testCatalog(provider.url));
  const tokens = catalog.get('tokens');
  if (!tokens) throw new Error('no model');
  // 8,500 credits a token, the dearest that the config can state.
  const input = priceFromCredits('input', MAX_CREDITS) ?? 0n;
  catalog.set('dear', { ...tokens, slug: 'dear', upstreamModel: 'dear', price: { ...FREE_PRICE, input } });
  const world = await startWorld(t, { provider, config: { catalog } });
  const { key, accountId } = await world.account({ credits: 100_000_000 });
  t.equal((await world.chat(key, { model: 'dear' })).status, 200);
  t.match(await lastCharge(world, accountId), { estimated: true, outcome: 'complete' });
  t.equal((await world.ledger.ledger.account(accountId)).held, 0);
});
