import type { JsonSchema } from './json-type.ts';
import { count, events, json, modelCall, STREAM, tier } from './model-call.ts';
import type { Operation } from './operation.ts';

const MESSAGES: JsonSchema = {
  type: 'array',
  items: { type: 'object' },
  description: 'The conversation so far.',
};
const HELLO = { model: 'demo-claude', messages: [{ role: 'user', content: 'Hello!' }] };

const createMessage = modelCall({
  operationId: 'createMessage',
  summary: 'Message',
  description:
    "Errors have Anthropic's shape. You can refer to a container, or a file that code created in one, if this account " +
    'created it.',
  reference: 'https://docs.anthropic.com/en/api/messages',
  format: 'anthropic',
  required: ['messages'],
  fields: {
    messages: MESSAGES,
    max_tokens: count(
      "Counts in the hold. Anthropic requires it; without it, the hold takes the model's `maxOutputTokens`.",
    ),
    stream: STREAM,
    tools: {
      type: ['array', 'null'],
      items: {},
      description:
        'Tools that the provider runs count in the hold, even if a message adds them. A tool with a fee that the model has ' +
        'no price for is refused, and so is one that names another model (`advisor`).',
    },
    service_tier: tier('`auto` or `standard_only`.'),
    speed: tier('`fast` is the service tier of that name; `standard` and null cost nothing extra.'),
    inference_geo: tier('A region is the service tier of that name; `global` and null cost nothing extra.'),
    context_management: {
      type: ['object', 'null'],
      additionalProperties: true,
      description:
        'A `compact_…` edit counts in the hold if the input can reach its trigger (default 150,000 tokens).',
    },
    cache_control: {
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'A `ttl` of `1h`, here or at a block, needs a price for longer cache writes.',
    },
    fallbacks: { type: 'null', description: 'Not supported: another model could answer.' },
    thread: { type: 'null', description: 'Not supported: the provider would keep the conversation.' },
  },
  refusals: ['unpriced_parameter'],
  requests: {
    hello: { summary: 'A question', value: { ...HELLO, max_tokens: 100 } },
    stream: { summary: 'The same, streamed', value: { ...HELLO, max_tokens: 100, stream: true } },
  },
  answers: {
    'application/json': json({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'demo-claude',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 17 },
    }),
    'text/event-stream': events(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}',
      'event: message_stop\ndata: {"type":"message_stop"}',
    ),
  },
});

const countMessageTokens = modelCall({
  operationId: 'countMessageTokens',
  summary: 'Count the tokens of a message',
  description:
    "Costs the model's `request` price and does not count in rate limits. Errors have Anthropic's shape.",
  reference: 'https://docs.anthropic.com/en/api/messages-count-tokens',
  format: 'anthropic',
  required: ['messages'],
  fields: { messages: MESSAGES },
  requests: { hello: { value: HELLO } },
  answers: { 'application/json': json({ input_tokens: 8 }) },
});

export const MESSAGE_OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/messages': createMessage,
  'POST /v1/messages/count_tokens': countMessageTokens,
};
