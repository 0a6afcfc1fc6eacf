import { type AnswerOptions, createdAt, cut, type DemandedTool, demanded, idOf, say } from './answer.ts';
import { count, isObject, parseObject, readContent, tokensIn } from './read-request.ts';

/** Parts of an OpenAI chat completion request that the demo provider reads. */
interface ChatRequest {
  readonly model: string;
  /** Text of the last user message. */
  readonly question: string;
  readonly promptTokens: number;
  /** Maximum tokens of the answer; undefined if not set. */
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The tool to call, if the request demands one. */
  readonly tool: DemandedTool | undefined;
  /** `response_format` as sent. */
  readonly format: unknown;
}

/** Parses a body; undefined unless it is a JSON object with a model and a list of messages. */
export function readChatRequest(body: Buffer): ChatRequest | undefined {
  const json = parseObject(body);
  if (!json || typeof json.model !== 'string' || !Array.isArray(json.messages)) return undefined;
  const messages = json.messages.filter(isObject).map((message) => ({
    role: message.role,
    ...readContent(message.content),
  }));
  const options = isObject(json.stream_options) ? json.stream_options : {};
  const tools = Array.isArray(json.tools) ? json.tools : [];
  const toolTokens = tools.length > 0 ? tokensIn(JSON.stringify(tools)) : 0;
  return {
    model: json.model,
    question: messages.findLast(({ role }) => role === 'user')?.text ?? '',
    promptTokens: messages.reduce((sum, message) => sum + message.tokens, toolTokens),
    maxTokens: count(json.max_completion_tokens) ?? count(json.max_tokens),
    choices: count(json.n) ?? 1,
    stream: json.stream === true,
    includeUsage: options.include_usage === true,
    tool: demandedTool(tools, json.tool_choice),
    format: json.response_format,
  };
}

function demandedTool(tools: readonly unknown[], choice: unknown): DemandedTool | undefined {
  const functions = tools
    .filter(isObject)
    .map((tool) => (isObject(tool.function) ? tool.function : {}))
    .map(({ name, parameters }) => ({ name, schema: parameters }));
  const wanted = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined;
  return demanded(functions, choice === 'required' ? functions[0]?.name : wanted);
}

/** A chat answer before serialization as JSON or a stream. Every choice has this content. */
interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  readonly choices: number;
  /** Text of the answer; null for a tool call. */
  readonly text: string | null;
  readonly tool: DemandedTool | undefined;
  readonly createdS: number;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  /** Usage to report; false for none, even if requested. */
  readonly usage: false | Readonly<Record<string, unknown>>;
}

/** Answers a chat request. */
export function answerChat(request: ChatRequest, body: Buffer, options: AnswerOptions): ChatAnswer {
  const { text, isCut } = say(request.question, request.maxTokens, options, request.format);
  const completionTokens =
    tokensIn(request.tool ? JSON.stringify(request.tool.input) : text) * request.choices;
  return {
    id: idOf('chatcmpl-', body),
    model: request.model,
    choices: request.choices,
    text: request.tool === undefined ? text : null,
    tool: request.tool,
    createdS: createdAt(options),
    finishReason: request.tool === undefined ? (isCut ? 'length' : 'stop') : 'tool_calls',
    usage: options.usage ?? {
      prompt_tokens: request.promptTokens,
      completion_tokens: completionTokens,
      total_tokens: request.promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  };
}

/** Body of a non-streamed answer. */
export function completionBody(answer: ChatAnswer): Record<string, unknown> {
  const choices = Array.from({ length: answer.choices }, (_, index) => ({
    index,
    message: {
      role: 'assistant',
      content: answer.text,
      ...(answer.tool === undefined ? {} : { tool_calls: [toolCall(answer.tool)] }),
    },
    finish_reason: answer.finishReason,
  }));
  return {
    id: answer.id,
    object: 'chat.completion',
    created: answer.createdS,
    model: answer.model,
    choices,
    ...(answer.usage ? { usage: answer.usage } : {}),
  };
}

/**
 * Events of a streamed answer in OpenAI's order: a role, content, and a finish reason for each choice, then `[DONE]`.
 * If usage was requested, each has `usage: null`, and a last chunk has `usage` and `choices: []`.
 */
export function completionEvents(answer: ChatAnswer, includeUsage: boolean, chunks?: number): string[] {
  const event = (choices: unknown[], usage: unknown) =>
    `data: ${JSON.stringify({
      id: answer.id,
      object: 'chat.completion.chunk',
      created: answer.createdS,
      model: answer.model,
      choices,
      ...(includeUsage ? { usage } : {}),
    })}\n\n`;
  const delta = (content: Record<string, unknown>, finishReason: string | null = null) =>
    Array.from({ length: answer.choices }, (_, index) =>
      event([{ index, delta: content, finish_reason: finishReason }], null),
    );
  const said = answer.text === null ? [] : cut(answer.text, chunks);
  return [
    ...delta({ role: 'assistant', content: answer.text === null ? null : '' }),
    ...said.flatMap((content) => delta({ content })),
    ...(answer.tool === undefined ? [] : delta({ tool_calls: [{ index: 0, ...toolCall(answer.tool) }] })),
    ...delta({}, answer.finishReason),
    ...(includeUsage && answer.usage ? [event([], answer.usage)] : []),
    'data: [DONE]\n\n',
  ];
}

function toolCall({ name, input }: DemandedTool): Record<string, unknown> {
  return { id: `call_${name}`, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}
