import type { JsonSchema } from './json-type.ts';
import { count, events, json, modelCall, STREAM, tier } from './model-call.ts';
import type { Operation } from './operation.ts';

const REFERENCE = 'https://platform.openai.com/docs/api-reference';
const HELD = "Counts in the hold. Default: the model's `maxOutputTokens`.";
const CHOICES = count('Number of answers, each of which is charged. Default: 1.');

const SERVICE_TIER = tier('Service tier of the provider; `auto`, `default` and null cost nothing extra.');
const UNPRICED = ['unpriced_parameter'] as const;

const STREAM_OPTIONS: JsonSchema = {
  type: ['object', 'null'],
  additionalProperties: true,
  properties: {
    include_usage: {
      type: ['boolean', 'null'],
      description:
        'Whether the last chunk reports usage. The gateway always asks the provider for it, and removes it if you did not.',
    },
  },
};

const chunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1795242083,
    model: 'demo-chat',
    choices: [{ index: 0, delta, finish_reason }],
  })}`;

const createChatCompletion = modelCall({
  operationId: 'createChatCompletion',
  summary: 'Chat completion',
  reference: `${REFERENCE}/chat/create`,
  required: ['messages'],
  fields: {
    messages: { type: 'array', items: { type: 'object' }, description: 'The conversation so far.' },
    max_completion_tokens: count(HELD),
    max_tokens: count(`The older name of \`max_completion_tokens\`. ${HELD}`),
    n: CHOICES,
    service_tier: SERVICE_TIER,
    web_search_options: {
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'A web search; counts in the hold. The model must have a price for it.',
    },
    modalities: {
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'With `audio`, the model must have a price for audio answers.',
    },
    stream: STREAM,
    stream_options: STREAM_OPTIONS,
  },
  refusals: UNPRICED,
  requests: {
    hello: {
      summary: 'A question',
      value: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 100 },
    },
    stream: {
      summary: 'The same, streamed',
      value: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }], stream: true },
    },
  },
  answers: {
    'application/json': json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1795242083,
      model: 'demo-chat',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 8, completion_tokens: 17, total_tokens: 25 },
    }),
    'text/event-stream': events(
      chunk({ role: 'assistant', content: 'Hello.' }, null),
      chunk({}, 'stop'),
      'data: [DONE]',
    ),
  },
});

const createCompletion = modelCall({
  operationId: 'createCompletion',
  summary: 'Text completion',
  reference: `${REFERENCE}/completions/create`,
  required: ['prompt'],
  fields: {
    prompt: {
      type: ['string', 'array'],
      items: {},
      description: 'Text or tokens to continue, or several.',
    },
    max_tokens: count(HELD),
    n: CHOICES,
    best_of: count('Number of completions to choose from, each of which is charged.'),
    echo: {
      type: ['boolean', 'null'],
      description: 'Whether the answer repeats the prompt, which counts.',
    },
    service_tier: SERVICE_TIER,
    stream: STREAM,
    stream_options: STREAM_OPTIONS,
  },
  refusals: UNPRICED,
  requests: { hello: { value: { model: 'demo-chat', prompt: 'Once upon a time', max_tokens: 50 } } },
  answers: {
    'application/json': json({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1795242083,
      model: 'demo-chat',
      choices: [{ index: 0, text: ' there was a gateway.', finish_reason: 'stop' }],
      usage: { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 },
    }),
    'text/event-stream': events(
      'data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":" there","finish_reason":"stop"}]}',
      'data: [DONE]',
    ),
  },
});

const createResponse = modelCall({
  operationId: 'createResponse',
  summary: 'Response',
  description:
    'You can refer to a response, an item or a container that this account created. Conversations, prompts, ' +
    'files and vector stores belong to no account here. Codex (`originator: codex…`) repeats 401, 402 and ' +
    '403, so it gets 429 `usage_limit_reached` in place of 402, 404 `model_not_found` in place of `model_not_allowed`, and 400 ' +
    '`invalid_request` in place of others.',
  reference: `${REFERENCE}/responses/create`,
  fields: {
    input: { type: ['string', 'array'], items: {}, description: 'Text, or a list of items.' },
    max_output_tokens: count(HELD),
    max_tool_calls: count(
      'Maximum uses of tools that the provider runs; counts in the hold. If you send such tools without it, the gateway sends limits.toolRounds (3).',
    ),
    tools: {
      type: ['array', 'null'],
      items: {},
      description:
        'Tools that the provider runs count in the hold, even inside an item of `input`. A tool with a fee that ' +
        'the model has no price for is refused, and so is one that names another model.',
    },
    service_tier: SERVICE_TIER,
    context_management: {
      type: ['array', 'null'],
      items: {},
      description:
        'A compaction counts in the hold if the input can reach its threshold (default 150,000 tokens).',
    },
    previous_response_id: {
      type: ['string', 'null'],
      description: 'Stored response of this account to continue; counts in the hold.',
    },
    background: {
      type: ['boolean', 'null'],
      enum: [false, null],
      description: 'Not supported: the answer would not report the usage.',
    },
    stream: STREAM,
  },
  refusals: [...UNPRICED, 'usage_limit_reached'],
  requests: { hello: { value: { model: 'demo-chat', input: 'Hello!', max_output_tokens: 100 } } },
  answers: {
    'application/json': json({
      id: 'resp_1',
      object: 'response',
      created_at: 1795242083,
      status: 'completed',
      model: 'demo-chat',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
      ],
      usage: { input_tokens: 8, output_tokens: 17, total_tokens: 25 },
    }),
    'text/event-stream': events(
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hello."}',
      'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed"}}',
    ),
  },
});

const compactResponse = modelCall({
  operationId: 'compactResponse',
  summary: 'Compact a conversation',
  description: 'Charged by token, like a response. Codex gets the same refusals as for a response.',
  reference: `${REFERENCE}/responses/compact`,
  fields: {
    input: { type: ['string', 'array'], items: {}, description: 'Text, or a list of items.' },
    previous_response_id: {
      type: ['string', 'null'],
      description: 'Stored response of this account to compact; counts in the hold.',
    },
    service_tier: SERVICE_TIER,
  },
  refusals: [...UNPRICED, 'usage_limit_reached'],
  requests: { hello: { value: { model: 'demo-chat', input: 'Hello!' } } },
  answers: {
    'application/json': json({
      id: 'resp_1',
      object: 'response.compaction',
      created_at: 1795242083,
      output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAAB' }],
      usage: { input_tokens: 8, output_tokens: 3, total_tokens: 11 },
    }),
  },
});

const countInputTokens = modelCall({
  operationId: 'countInputTokens',
  summary: 'Count the input tokens of a response',
  description: "Costs the model's `request` price and does not count in rate limits.",
  reference: `${REFERENCE}/responses/input-tokens`,
  fields: { input: { type: ['string', 'array'], items: {}, description: 'Text, or a list of items.' } },
  requests: { hello: { value: { model: 'demo-chat', input: 'Hello!' } } },
  answers: { 'application/json': json({ object: 'response.input_tokens', input_tokens: 8 }) },
});

const createEmbedding = modelCall({
  operationId: 'createEmbedding',
  summary: 'Embeddings',
  reference: `${REFERENCE}/embeddings/create`,
  required: ['input'],
  fields: {
    input: { type: ['string', 'array'], items: {}, description: 'Text or tokens to embed, or several.' },
    service_tier: SERVICE_TIER,
  },
  refusals: UNPRICED,
  requests: { text: { value: { model: 'demo-embedding', input: 'The quick brown fox' } } },
  answers: {
    'application/json': json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.12, -0.34, 0.56] }],
      model: 'demo-embedding',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    }),
  },
});

const createModeration = modelCall({
  operationId: 'createModeration',
  summary: 'Moderation',
  description: "Costs the model's `request` price, whatever you send.",
  reference: `${REFERENCE}/moderations/create`,
  required: ['input'],
  fields: { input: { type: ['string', 'array'], items: {}, description: 'Text or images to check.' } },
  requests: { text: { value: { model: 'demo-moderation', input: 'Have a nice day.' } } },
  answers: {
    'application/json': json({
      id: 'modr-1',
      model: 'demo-moderation',
      results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0 } }],
    }),
  },
});

export const TEXT_OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/chat/completions': createChatCompletion,
  'POST /v1/completions': createCompletion,
  'POST /v1/responses': createResponse,
  'POST /v1/responses/compact': compactResponse,
  'POST /v1/responses/input_tokens': countInputTokens,
  'POST /v1/embeddings': createEmbedding,
  'POST /v1/moderations': createModeration,
};
