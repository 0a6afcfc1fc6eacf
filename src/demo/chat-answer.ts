import { createHash } from 'node:crypto';
import type { Behaviour } from './behaviour.ts';
import { type ChatRequest, firstTokens, tokensIn } from './chat-request.ts';

/** An answer before it is put into JSON or a stream. The same for every choice. */
export interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  readonly choices: number;
  /** Null where a tool is called instead. */
  readonly text: string | null;
  readonly tool: string | undefined;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  /** False: left out, though asked for. */
  readonly usage: false | Readonly<Record<string, unknown>>;
}

/** Seconds since the epoch. It never changes, so that the same request gets the same bytes. */
const CREATED_S = 1_735_689_600;
const TOOL_ARGUMENTS = '{}';

/** The same request and behaviour give the same answer, byte for byte. */
export function answerChat(request: ChatRequest, body: Buffer, behaviour: Behaviour): ChatAnswer {
  const whole =
    behaviour.text ??
    `This is Tollgate's built-in demo model, with no AI behind it. You said: ${request.question.slice(0, 1_000)}`;
  const text = request.maxTokens === undefined ? whole : firstTokens(whole, request.maxTokens);
  const completionTokens = tokensIn(request.tool === undefined ? text : TOOL_ARGUMENTS) * request.choices;
  return {
    id: `chatcmpl-${createHash('sha256').update(body).digest('hex').slice(0, 24)}`,
    model: request.model,
    choices: request.choices,
    text: request.tool === undefined ? text : null,
    tool: request.tool,
    finishReason: request.tool === undefined ? (text === whole ? 'stop' : 'length') : 'tool_calls',
    usage: behaviour.usage ?? {
      prompt_tokens: request.promptTokens,
      completion_tokens: completionTokens,
      total_tokens: request.promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  };
}

/** The body of an answer that is not streamed. */
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
    created: CREATED_S,
    model: answer.model,
    choices,
    ...(answer.usage ? { usage: answer.usage } : {}),
  };
}

/**
 * The events of a streamed answer, in OpenAI's order: a role, content, and a finish reason for each choice, then
 * `[DONE]`. Only where usage was asked for: `usage: null` in each, and a last chunk with `usage` and `choices: []`.
 */
export function completionEvents(answer: ChatAnswer, includeUsage: boolean, chunks?: number): string[] {
  const event = (choices: unknown[], usage: unknown) =>
    `data: ${JSON.stringify({
      id: answer.id,
      object: 'chat.completion.chunk',
      created: CREATED_S,
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

function toolCall(name: string): Record<string, unknown> {
  return { id: `call_${name}`, type: 'function', function: { name, arguments: TOOL_ARGUMENTS } };
}

/** So many parts of nearly the same length (in characters), or one a word. Together they are the text. */
function cut(text: string, parts?: number): string[] {
  if (parts === undefined) return text.match(/\s*\S+|\s+$/g) ?? [];
  const characters = [...text];
  return Array.from({ length: parts }, (_, part) => {
    const start = Math.floor((part * characters.length) / parts);
    return characters.slice(start, Math.floor(((part + 1) * characters.length) / parts)).join('');
  });
}
