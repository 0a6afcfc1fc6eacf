import {
  type Answer,
  chatAnswer,
  eventTexts,
  messagesAnswer,
  responsesAnswer,
} from '../../fixtures/answer-shapes.ts';
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
  const answer = { chat: chatOf, responses: responseOf, messages: messageOf }[format](use, random);
  return { whole: answer.json, events: eventTexts(answer.events) };
}

const tierOf = ({ isFlex }: Use) => (isFlex ? 'flex' : 'default');

function inputDetails({ cached, written, writtenLong }: Pass): object {
  return {
    cached_tokens: cached,
    cache_write_tokens: written + writtenLong,
    cache_write_tokens_details: { ttl_30m_tokens: written, ttl_12h_tokens: writtenLong },
  };
}

function chatOf(use: Use, random: Random): Answer {
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
  return chatAnswer(usage, tierOf(use), WORDS);
}

function responseOf(use: Use, random: Random): Answer {
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
  const usage = {
    input_tokens: input,
    input_tokens_details: inputDetails(sum),
    output_tokens: sum.output,
    output_tokens_details: { reasoning_tokens: random.upTo(sum.output) },
    total_tokens: input + sum.output,
  };
  return responsesAnswer(usage, {
    tier: tierOf(use),
    output: [...searches, ...more],
    beside: {
      store: false,
      ...(tellsCount && { tool_usage: { web_search: { num_requests: use.searches } } }),
    },
    texts: WORDS,
  });
}

function messageOf({ passes, searches, isRefused }: Use): Answer {
  const counts = ({ plain, cached, written, writtenLong, output }: Pass) => ({
    input_tokens: plain,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written + writtenLong,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenLong },
    output_tokens: output,
  });
  const end = {
    ...counts(sumOf(passes)),
    iterations: passes.map((pass) => ({ type: 'message', ...counts(pass) })),
    server_tool_use: searches > 0 ? { web_search_requests: searches } : null,
  };
  const start = { ...counts(passes[0] as Pass), output_tokens: 1 };
  return messagesAnswer(start, [end], isRefused ? { stop: 'refusal', texts: [] } : { texts: WORDS });
}
