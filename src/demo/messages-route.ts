import {
  type AnswerOptions,
  cut,
  type DemandedTool,
  type DemoRoute,
  demanded,
  idOf,
  namedEvent,
  say,
} from './answer.ts';
import { count, isObject, readContent, tokensIn } from './read-request.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * `POST /v1/messages` in Anthropic's format. Calls a tool if `tool_choice` demands one. Usage counts system, messages
 * and tools, none as cached. A stream first reports the input and one output token, and all output at its end.
 */
export const messagesRoute: DemoRoute = (json, body, options) => {
  const tokens = messageTokens(json);
  if (tokens === undefined) return undefined;
  const { text, isCut } = say(questionOf(json), count(json.max_tokens), options, formatOf(json));
  const tool = demandedTool(json);
  const block =
    tool === undefined
      ? { type: 'text', text }
      : { type: 'tool_use', id: `toolu_${tool.name}`, name: tool.name, input: tool.input };
  const usage = options.usage ?? {
    input_tokens: tokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: tokensIn(tool === undefined ? text : JSON.stringify(tool.input)),
  };
  const message = {
    id: idOf('msg_', body),
    type: 'message',
    role: 'assistant',
    model: json.model,
    content: [block],
    stop_reason: tool === undefined ? (isCut ? 'max_tokens' : 'end_turn') : 'tool_use',
    stop_sequence: null,
    ...(usage ? { usage } : {}),
  };
  return json.stream === true ? events(message, block, options) : message;
};

/** Input tokens of a request; undefined if it has no messages. */
export function messageTokens({ messages, system, tools }: Json): number | undefined {
  if (!Array.isArray(messages)) return undefined;
  const tokensOf = (content: unknown) => readContent(content).tokens;
  const toolTokens = Array.isArray(tools) && tools.length > 0 ? tokensIn(JSON.stringify(tools)) : 0;
  return messages
    .filter(isObject)
    .reduce((sum, { content }) => sum + tokensOf(content), tokensOf(system) + toolTokens);
}

function events(
  message: Json & { usage?: Json },
  block: { type: string; text?: string; input?: object },
  { chunks }: AnswerOptions,
): string[] {
  const { usage, stop_reason } = message;
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    ...(usage ? { usage: { ...usage, output_tokens: 1 } } : {}),
  };
  const deltas =
    block.text === undefined
      ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
      : cut(block.text, chunks).map((text) => ({ type: 'text_delta', text }));
  return [
    namedEvent({ type: 'message_start', message: start }),
    namedEvent({
      type: 'content_block_start',
      index: 0,
      content_block: block.text === undefined ? { ...block, input: {} } : { type: 'text', text: '' },
    }),
    namedEvent({ type: 'ping' }),
    ...deltas.map((delta) => namedEvent({ type: 'content_block_delta', index: 0, delta })),
    namedEvent({ type: 'content_block_stop', index: 0 }),
    namedEvent({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      ...(usage ? { usage: { output_tokens: usage.output_tokens } } : {}),
    }),
    namedEvent({ type: 'message_stop' }),
  ];
}

function questionOf({ messages }: Json): string {
  if (!Array.isArray(messages)) return '';
  return readContent(messages.filter(isObject).findLast(({ role }) => role === 'user')?.content).text;
}

/** The format of structured output, under its name or the earlier one. */
function formatOf({ output_config: config, output_format: format }: Json): unknown {
  return isObject(config) ? config.format : format;
}

function demandedTool({ tools, tool_choice: choice }: Json): DemandedTool | undefined {
  if (!Array.isArray(tools) || !isObject(choice)) return undefined;
  const known = tools.filter(isObject).map(({ name, input_schema: schema }) => ({ name, schema }));
  return demanded(known, choice.type === 'any' ? known[0]?.name : choice.name);
}
