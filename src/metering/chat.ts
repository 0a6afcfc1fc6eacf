import type { Usage } from '../domain/units.ts';
import { ChatStream, chatResourceIds } from './chat-stream.ts';
import { asText, isObject } from './json-value.ts';
import { type Meter, saysError } from './meter.ts';
import { countOf, type MeteredBody } from './metered-body.ts';
import { chatToUsage } from './openai-usage.ts';
import { outputTextIn } from './output-text.ts';
import { askChat } from './request/ask-chat.ts';
import { asksLongCache } from './request/cache-life.ts';
import { openaiTerms } from './service-tiers.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy } from './usage.ts';
import { searchesAsked, withSearches } from './web-searches.ts';

/** `/v1/chat/completions`. */
export const chat: Meter = {
  ask: askChat,
  usage(answer, body) {
    const usage = chatToUsage(reportedBy(answer), body.model.price, () => asksLongCache(body));
    return usage && withSearches(usage, searchesAsked(body));
  },
  terms: (answer, { model }) => openaiTerms(answer, model.price),
  mergeReported: (estimate, _answer, body) => withSearches(estimate, searchesAsked(body)),
  outputText: outputTextOf,
  failed: saysError,
  stream: (injectedUsage, body) =>
    new ChatStream({
      injectedUsage,
      price: body.model.price,
      searches: searchesAsked(body),
      asksLongCache: () => asksLongCache(body),
      isInterleaved: (countOf(body, 'n') ?? 1) > 1,
      // Reading each chunk for the ids of sound takes time, so only where sound was asked for.
      hasSound: isObject(body.value.audio),
    }),
  resourceIds: chatResourceIds,
  estimate: estimateChat,
};

/** About the tokens that vendors' templates add to a message. */
const MESSAGE_TOKENS = 4;

/** Usage of a chat call whose upstream reported none, from the request and the output text. */
async function estimateChat(
  body: MeteredBody,
  outputText: string,
  count: CountTokens,
  storedTokens = 0,
  mediaTokens = 0,
): Promise<Usage> {
  const { messages, tools } = body.value;
  const texts: string[] = [];
  let framing = 0;
  if (Array.isArray(messages)) {
    framing = messages.length * MESSAGE_TOKENS;
    for (const message of messages) {
      collectText(message, texts);
      collectCalls(message, texts);
    }
  }
  if (tools !== undefined) texts.push(asText(tools));
  const [input, output] = await Promise.all([
    count(texts.join('\n')),
    outputText === '' ? 0 : count(outputText),
  ]);
  return { input: input + framing + mediaTokens + storedTokens, output };
}

/** The output text of a whole chat answer. */
function outputTextOf(answer: unknown): string {
  const choices = isObject(answer) ? answer.choices : undefined;
  if (!Array.isArray(choices)) return '';
  return choices
    .map((choice) => outputTextIn(asText(isObject(choice) ? choice.message : undefined)))
    .join('');
}

/** Collects names and arguments of tool calls. */
function collectCalls(message: unknown, texts: string[]): void {
  const { tool_calls: calls, function_call: call } = (message ?? {}) as Record<string, unknown>;
  for (const one of [...(Array.isArray(calls) ? calls : []), { function: call }]) {
    const called = isObject(one) ? (one.function ?? one.custom) : undefined;
    if (isObject(called)) texts.push(asText(called.name), asText(called.arguments ?? called.input));
  }
}

function collectText(message: unknown, texts: string[]): void {
  const content = (message as { content?: unknown } | null)?.content;
  if (typeof content === 'string') texts.push(content);
  else if (Array.isArray(content)) {
    for (const part of content) if (typeof part?.text === 'string') texts.push(part.text);
  }
}
