import { namedEvent, type Piece } from '../../../../src/demo/answer.ts';

export type Format = 'chat' | 'responses' | 'messages';

/** The tokens of a call by the provider's own count, under the names that ledger rows have. */
export interface Count {
  /** Neither read from a cache nor written to one. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
}

/** A turn of an agent's model: it thinks, and then speaks or uses a tool. */
export interface Turn {
  readonly id: string;
  readonly model: unknown;
  readonly thinking: string;
  /** The encrypted thinking. Without it, a response has the thinking in plain text. */
  readonly encrypted?: string;
  readonly text: string;
  /** A tool call instead of the text. */
  readonly use?: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
  /** The answer to `compaction_trigger`, instead of both. */
  readonly compaction?: string;
  readonly count: Count;
}

type Json = Readonly<Record<string, unknown>>;

/** The turn as a whole answer, or as the pieces of a stream. */
export function answerOf(format: Format, turn: Turn, isStream: boolean, wantsUsage: boolean): Json | Piece[] {
  switch (format) {
    case 'chat':
      return isStream ? chatPieces(turn, wantsUsage) : chatBody(turn);
    case 'responses':
      return isStream ? responsesPieces(turn) : responsesBody(turn);
    case 'messages':
      return isStream ? messagesPieces(turn) : messagesBody(turn);
  }
}

/** Words, each with the space before it. */
const words = (text: string) => text.match(/\s*\S+/g) ?? [];

/** OpenAI's formats count cached tokens within the input. */
const inputOf = ({ input, cachedInput }: Count) => input + cachedInput;

function chatUsage({ count }: Turn): Json {
  return {
    prompt_tokens: inputOf(count),
    prompt_tokens_details: { cached_tokens: count.cachedInput },
    completion_tokens: count.output,
    completion_tokens_details: { reasoning_tokens: 3 },
    total_tokens: inputOf(count) + count.output,
  };
}

function chatBody(turn: Turn): Json {
  const { id, model, text, use } = turn;
  const calls = use && [chatCall(turn)];
  return {
    id,
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: use ? null : text, ...(calls && { tool_calls: calls }) },
        finish_reason: use ? 'tool_calls' : 'stop',
      },
    ],
    usage: chatUsage(turn),
  };
}

const chatCall = ({ id, use }: Turn): Json => ({
  id: `call_${id}`,
  type: 'function',
  function: { name: use?.name, arguments: JSON.stringify(use?.input) },
});

function chatPieces(turn: Turn, wantsUsage: boolean): Piece[] {
  const { id, model, thinking, text, use } = turn;
  const chunk = (choices: readonly Json[], more: Json = {}) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model, choices, ...more })}\n\n`;
  const delta = (part: Json, finish: string | null = null) =>
    chunk([{ index: 0, delta: part, finish_reason: finish }]);
  return [
    delta({ role: 'assistant', content: '' }),
    // The field of DeepSeek, vLLM and others.
    delta({ reasoning_content: thinking }),
    ...(use
      ? [delta({ tool_calls: [{ index: 0, ...chatCall(turn) }] })]
      : words(text).map((content) => delta({ content }))),
    delta({}, use ? 'tool_calls' : 'stop'),
    ...(wantsUsage ? [chunk([], { usage: chatUsage(turn) })] : []),
    'data: [DONE]\n\n',
  ];
}

function responsesItems({ id, thinking, encrypted, text, use, compaction }: Turn): Json[] {
  if (compaction !== undefined)
    return [{ type: 'compaction', id: `cmp_${id}`, encrypted_content: compaction }];
  const said = use
    ? {
        type: 'function_call',
        id: `fc_${id}`,
        call_id: `call_${id}`,
        name: use.name,
        arguments: JSON.stringify(use.input),
        status: 'completed',
      }
    : {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      };
  return [
    {
      type: 'reasoning',
      id: `rs_${id}`,
      summary: [{ type: 'summary_text', text: thinking }],
      ...(encrypted === undefined
        ? { content: [{ type: 'reasoning_text', text: thinking }] }
        : { encrypted_content: encrypted }),
    },
    said,
  ];
}

function responsesBody(turn: Turn): Json {
  const { id, model, count } = turn;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: responsesItems(turn),
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: inputOf(count),
      input_tokens_details: { cached_tokens: count.cachedInput },
      output_tokens: count.output,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: inputOf(count) + count.output,
    },
  };
}

function responsesPieces(turn: Turn): Piece[] {
  const response = responsesBody(turn);
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const items = responsesItems(turn).flatMap((item, at) => [
    { type: 'response.output_item.added', output_index: at, item: { ...item, ...beginningOf(item) } },
    ...deltasOf(item, at),
    { type: 'response.output_item.done', output_index: at, item },
  ]);
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items,
    { type: 'response.completed', response },
  ].map((event, sequence) => namedEvent({ ...event, sequence_number: sequence }));
}

function beginningOf({ type }: Json): Json {
  if (type === 'message') return { content: [], status: 'in_progress' };
  if (type === 'function_call') return { arguments: '', status: 'in_progress' };
  return type === 'reasoning' ? { summary: [] } : {};
}

function deltasOf(item: Json, at: number): ({ readonly type: string } & Json)[] {
  const place = { item_id: item.id, output_index: at };
  if (item.type === 'function_call') {
    return [
      { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
      { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
    ];
  }
  if (item.type !== 'message') return [];
  const [part] = item.content as [{ text: string }];
  const inPart = { ...place, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...inPart, part: { ...part, text: '' } },
    ...words(part.text).map((delta) => ({ type: 'response.output_text.delta', ...inPart, delta })),
    { type: 'response.output_text.done', ...inPart, text: part.text },
    { type: 'response.content_part.done', ...inPart, part },
  ];
}

function messagesUsage({ count }: Turn): Json {
  return {
    input_tokens: count.input,
    cache_read_input_tokens: count.cachedInput,
    cache_creation_input_tokens: count.cacheWrite + count.cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: count.cacheWrite,
      ephemeral_1h_input_tokens: count.cacheWrite1h,
    },
    output_tokens: count.output,
  };
}

function messagesBody(turn: Turn): Json {
  const { id, model, thinking, text, use } = turn;
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      { type: 'thinking', thinking, signature: btoa(thinking) },
      use
        ? { type: 'tool_use', id: `toolu_${id}`, name: use.name, input: use.input }
        : { type: 'text', text },
    ],
    stop_reason: use ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: messagesUsage(turn),
  };
}

function messagesPieces(turn: Turn): Piece[] {
  const { thinking, text, use } = turn;
  const message = messagesBody(turn);
  const usage = messagesUsage(turn);
  const block = (index: number, empty: Json, deltas: readonly Json[]) => [
    namedEvent({ type: 'content_block_start', index, content_block: empty }),
    ...deltas.map((delta) => namedEvent({ type: 'content_block_delta', index, delta })),
    namedEvent({ type: 'content_block_stop', index }),
  ];
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    namedEvent({ type: 'message_start', message: begun }),
    namedEvent({ type: 'ping' }),
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: btoa(thinking) },
    ]),
    ...(use
      ? block(1, { type: 'tool_use', id: `toolu_${turn.id}`, name: use.name, input: {} }, [
          { type: 'input_json_delta', partial_json: JSON.stringify(use.input) },
        ])
      : block(
          1,
          { type: 'text', text: '' },
          words(text).map((word) => ({ type: 'text_delta', text: word })),
        )),
    namedEvent({
      type: 'message_delta',
      delta: { stop_reason: use ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage,
    }),
    namedEvent({ type: 'message_stop' }),
  ];
}
