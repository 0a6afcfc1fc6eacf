import { randomUUID } from 'node:crypto';
import {
  type AnswerOptions,
  createdAt,
  cut,
  type DemandedTool,
  type DemoRoute,
  demanded,
  namedEvent,
  say,
} from './answer.ts';
import { count, isObject, readContent, tokensIn } from './read-request.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * `POST /v1/responses`. Calls a tool if `tool_choice` demands one. Usage counts instructions, input and tools. Stores
 * no answers, so `previous_response_id` adds nothing.
 */
export const responsesRoute: DemoRoute = (json, _body, options) => {
  const { question, tokens } = readInput(json);
  const { text, isCut } = say(
    question,
    count(json.max_output_tokens),
    options,
    isObject(json.text) ? json.text.format : undefined,
  );
  const tool = demandedTool(json);
  const output = tool === undefined ? message(text) : call(tool);
  const outputTokens = tokensIn(tool === undefined ? text : JSON.stringify(tool.input));
  const usage = options.usage ?? {
    input_tokens: tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens + outputTokens,
  };
  const isShort = tool === undefined && isCut;
  const response = {
    id: storedId('resp_'),
    object: 'response',
    created_at: createdAt(options),
    status: isShort ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isShort ? { reason: 'max_output_tokens' } : null,
    model: json.model,
    output: [output],
    previous_response_id: json.previous_response_id ?? null,
    store: json.store !== false,
    usage: usage || null,
  };
  return json.stream === true ? events(response, output, text, options) : response;
};

/** `POST /v1/responses/compact`. The last question represents the conversation. */
export const compactRoute: DemoRoute = (json, _body, options) => {
  const { question, tokens } = readInput(json);
  const outputTokens = tokensIn(question);
  const usage = options.usage ?? {
    input_tokens: tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens + outputTokens,
  };
  return {
    id: storedId('resp_'),
    object: 'response.compaction',
    created_at: createdAt(options),
    output: [{ type: 'compaction', id: storedId('cmp_'), encrypted_content: btoa(encodeURI(question)) }],
    usage: usage || null,
  };
};

/** `POST /v1/responses/input_tokens`. */
export const inputTokensRoute: DemoRoute = (json) => ({
  object: 'response.input_tokens',
  input_tokens: readInput(json).tokens,
});

function events(response: Json, item: Json, text: string, { chunks }: AnswerOptions): string[] {
  const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  const at = { item_id: item.id, output_index: 0 };
  const place = { ...at, content_index: 0 };
  const part = { type: 'output_text', text, annotations: [] };
  const said =
    item.type === 'message'
      ? [
          { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
          ...cut(text, chunks).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
          { type: 'response.output_text.done', ...place, text },
          { type: 'response.content_part.done', ...place, part },
        ]
      : [
          { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
          { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
        ];
  const empty = item.type === 'message' ? { content: [] } : { arguments: '' };
  const started = { ...item, ...empty, status: 'in_progress' };
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: started },
    ...said,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: `response.${response.status}`, response },
  ].map((event, index) => namedEvent({ ...event, sequence_number: index }));
}

/** A new id: a provider's stored objects are told apart by it. */
function storedId(prefix: string): string {
  return prefix + randomUUID().replaceAll('-', '');
}

function message(text: string): Json {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: storedId('msg_'), status: 'completed', role: 'assistant', content };
}

function call({ name, input }: DemandedTool): Json {
  return {
    type: 'function_call',
    id: storedId('fc_'),
    call_id: `call_${name}`,
    name,
    arguments: JSON.stringify(input),
    status: 'completed',
  };
}

function readInput({ input, instructions, tools }: Json): { question: string; tokens: number } {
  const fixed =
    (typeof instructions === 'string' ? tokensIn(instructions) : 0) +
    (Array.isArray(tools) && tools.length > 0 ? tokensIn(JSON.stringify(tools)) : 0);
  if (typeof input === 'string') return { question: input, tokens: tokensIn(input) + fixed };
  const items = Array.isArray(input) ? input.filter(isObject) : [];
  const contents = items.map((item) => ({ role: item.role, ...readContent(item.content ?? item.output) }));
  return {
    question: contents.findLast(({ role }) => role === 'user')?.text ?? '',
    tokens: contents.reduce((sum, { tokens }) => sum + tokens, fixed),
  };
}

function demandedTool({ tools, tool_choice: choice }: Json): DemandedTool | undefined {
  if (!Array.isArray(tools)) return undefined;
  const known = tools.filter(isObject).map(({ name, parameters }) => ({ name, schema: parameters }));
  const wanted = isObject(choice) ? choice.name : undefined;
  return demanded(known, choice === 'required' ? known[0]?.name : wanted);
}
