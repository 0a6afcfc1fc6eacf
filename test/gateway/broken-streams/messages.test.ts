import { type Piece, tokensOf } from '../../helper/start/broken-stream.ts';
import { breakEverywhere, type StreamFormat } from './every-break.ts';

const TEXT = 'Incomprehensibilities, "quoted" \n and Grüße aus 日本 😀. '.repeat(8);
const slices = (text: string) => text.match(/[\s\S]{1,3}/gu) ?? [];
const event = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** As in Anthropic's reference ("Streaming messages"): the start reports the input and one token of output. */
const START = event({
  type: 'message_start',
  message: {
    id: 'msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'claude-opus-4-20250514',
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 25,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      service_tier: 'standard',
    },
  },
});

function block(index: number, opened: object, deltas: readonly { delta: object; says: string }[]): Piece[] {
  return [
    { sent: event({ type: 'content_block_start', index, content_block: opened }) },
    { sent: event({ type: 'ping' }) },
    ...deltas.map(({ delta, says }) => ({
      sent: event({ type: 'content_block_delta', index, delta }),
      says,
    })),
    { sent: event({ type: 'content_block_stop', index }) },
  ];
}

function messages(name: string, blocks: readonly Piece[], reason = 'end_turn'): StreamFormat {
  const delta = { stop_reason: reason, stop_sequence: null };
  const pieces = [
    { sent: START },
    ...blocks,
    { sent: event({ type: 'message_delta', delta, usage: { output_tokens: 15 } }) },
    { sent: event({ type: 'message_stop' }) },
  ];
  return {
    name,
    path: '/v1/messages',
    body: JSON.stringify({
      model: 'claude',
      stream: true,
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
    pieces,
    middle: Math.floor(pieces.length / 2),
    beforeUsage: pieces.length - 2,
    cost: (sent) => ({
      estimated: true,
      usage: { input: 25, cachedInput: 100, cacheWrite: 7 },
      tokens: { output: tokensOf(sent) },
    }),
    asked: { estimated: true, tokens: { input: 1, output: 0 } },
    error: event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  };
}

const text = slices(TEXT).map((says) => ({ delta: { type: 'text_delta', text: says }, says }));
const thinking = slices(TEXT).map((says) => ({ delta: { type: 'thinking_delta', thinking: says }, says }));
const signature = { delta: { type: 'signature_delta', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' }, says: '' };
const input = slices(JSON.stringify({ location: 'San Francisco, "CA"', days: ['Mo', 'Di', 'Mi'] })).map(
  (says) => ({ delta: { type: 'input_json_delta', partial_json: says }, says }),
);

breakEverywhere([
  messages('messages', block(0, { type: 'text', text: '' }, text)),
  messages('messages that think', [
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [...thinking, signature]),
    ...block(1, { type: 'text', text: '' }, text.slice(0, 20)),
  ]),
  messages(
    'messages that use a tool',
    [
      ...block(0, { type: 'text', text: '' }, text.slice(0, 5)),
      ...block(1, { type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: {} }, input),
    ],
    'tool_use',
  ),
]);
