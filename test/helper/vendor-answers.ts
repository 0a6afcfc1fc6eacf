import type { Usage } from '../../src/domain/units.ts';
import type { Behaviour } from './behaviour.ts';
import { silentWav } from './media-gateway.ts';

/** An answer in the shape of a vendor's reference or SDK types, with the usage that it means. */
export interface Row {
  readonly what: string;
  readonly path: string;
  readonly body: object | (() => FormData);
  readonly answer: Behaviour['body'];
  readonly contentType?: string;
  readonly usage: Usage;
  readonly outcome?: string;
}

/** The answer of a chat call, as both tables of usages have it. */
export const CHOICES = [
  {
    index: 0,
    message: { role: 'assistant', content: 'Hello!', refusal: null, annotations: [] },
    logprobs: null,
    finish_reason: 'stop',
  },
];
export const CHAT = { model: 'tokens', messages: [{ role: 'user', content: 'Hi' }] };
export const chat = (what: string, usage: object, expected: Usage): Row => ({
  what: `chat: ${what}`,
  path: '/v1/chat/completions',
  body: CHAT,
  answer: {
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: 1_741_569_952,
    model: 'gpt-4.1-2025-04-14',
    choices: CHOICES,
    usage,
    service_tier: 'default',
  },
  usage: expected,
});

export const response = (what: string, more: object, usage: Usage, outcome = 'complete'): Row => ({
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
export const responseUsage = (
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

export const MESSAGE = { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
export const message = (what: string, usage: object, expected: Usage): Row => ({
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
export const messageStream = (what: string, start: object, deltas: readonly object[], usage: Usage): Row => ({
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

export const image = (what: string, model: string, answer: object, usage: Usage): Row => ({
  what: `images: ${what}`,
  path: '/v1/images/generations',
  body: { model, prompt: 'A cat', n: 2 },
  answer: { created: 1_713_833_628, ...answer },
  usage,
});
export const PICTURES = [{ b64_json: 'iVBORw0KGgo=' }, { b64_json: 'iVBORw0KGgo=' }];

export const transcript = (what: string, model: string, answer: object, usage: Usage): Row => ({
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
