import { inputOf, type Pass, sumOf, type Use } from './bill.ts';
import type { Format } from './bounded-use.ts';
import type { Random } from './random.ts';

/** An answer of the provider, whole and as the events of a stream. */
export interface BilledAnswer {
  readonly whole: object;
  readonly events: readonly string[];
}

const WORDS = ['One', ' two', ' three', ' four', ' END'];

/** The answer of a call in its format, with the usage as one of its vendors reports it. */
export function answerOf(format: Format, use: Use, random: Random): BilledAnswer {
  return { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer }[format](use, random);
}

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: { readonly type: string } & Record<string, unknown>) =>
  `event: ${event.type}\n${data(event)}`;

function inputDetails({ cached, written, writtenLong }: Pass): object {
  return {
    cached_tokens: cached,
    cache_write_tokens: written + writtenLong,
    cache_write_tokens_details: { ttl_30m_tokens: written, ttl_12h_tokens: writtenLong },
  };
}

function chatAnswer(use: Use, random: Random): BilledAnswer {
  const sum = sumOf(use.passes);
  const input = inputOf(sum);
  // xAI and Gemini count reasoning only in the total.
  const outside = random.chance(0.3) ? random.upTo(sum.output) : 0;
  const usage = {
    prompt_tokens: input,
    prompt_tokens_details: inputDetails(sum),
    completion_tokens: sum.output - outside,
    total_tokens: input + sum.output,
  };
  const head = {
    id: 'chatcmpl-1',
    created: 1,
    model: 'openai-like',
    service_tier: use.isFlex ? 'flex' : 'default',
  };
  const chunk = (delta: object, finish: string | null = null) =>
    data({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
  const message = { role: 'assistant', content: WORDS.join(''), refusal: null };
  return {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    },
    events: [
      chunk({ role: 'assistant', content: '' }),
      ...WORDS.map((content) => chunk({ content })),
      chunk({}, 'stop'),
      data({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ],
  };
}

function responsesAnswer(use: Use, random: Random): BilledAnswer {
  const sum = sumOf(use.passes);
  const input = inputOf(sum);
  const search = (type: string, index: number) => ({
    id: `ws_${index}`,
    type: 'web_search_call',
    status: 'completed',
    action: { type, query: 'q' },
  });
  const searches = Array.from({ length: use.searches }, (_, index) => search('search', index));
  // The vendor's count has more items than it bills.
  const tellsCount = random.chance(0.5);
  const more = tellsCount && use.searches > 0 ? [search('search', use.searches), search('open_page', 9)] : [];
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: WORDS.join(''), annotations: [] }],
  };
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'openai-like',
    status: 'completed',
    service_tier: use.isFlex ? 'flex' : 'default',
    store: false,
    output: [...searches, ...more, message],
    ...(tellsCount ? { tool_usage: { web_search: { num_requests: use.searches } } } : {}),
    usage: {
      input_tokens: input,
      input_tokens_details: inputDetails(sum),
      output_tokens: sum.output,
      output_tokens_details: { reasoning_tokens: random.upTo(sum.output) },
      total_tokens: input + sum.output,
    },
  };
  const begun = { ...response, status: 'in_progress', output: [], usage: null, tool_usage: undefined };
  const delta = (text: string) =>
    named({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: text,
    });
  return {
    whole: response,
    events: [
      named({ type: 'response.created', response: begun }),
      ...WORDS.map(delta),
      named({ type: 'response.completed', response }),
    ],
  };
}

function messagesAnswer(use: Use): BilledAnswer {
  const counts = ({ plain, cached, written, writtenLong, output }: Pass) => ({
    input_tokens: plain,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written + writtenLong,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenLong },
    output_tokens: output,
  });
  const usage = {
    ...counts(sumOf(use.passes)),
    iterations: use.passes.map((pass) => ({ type: 'message', ...counts(pass) })),
    server_tool_use: use.searches > 0 ? { web_search_requests: use.searches } : null,
  };
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'anthropic-like' };
  const reason = use.isRefused ? 'refusal' : 'end_turn';
  const content = use.isRefused ? [] : [{ type: 'text', text: WORDS.join(''), citations: null }];
  const first = { ...counts(use.passes[0] as Pass), output_tokens: 1 };
  const block = use.isRefused
    ? []
    : [
        named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        ...WORDS.map((text) =>
          named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
        ),
        named({ type: 'content_block_stop', index: 0 }),
      ];
  return {
    whole: { ...head, content, stop_reason: reason, stop_sequence: null, usage },
    events: [
      named({
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: first },
      }),
      ...block,
      named({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage }),
      named({ type: 'message_stop' }),
    ],
  };
}
