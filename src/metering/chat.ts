import type { Micro } from '../domain/credits.ts';
import { holdFor } from '../domain/price.ts';
import type { Usage } from '../domain/usage.ts';
import { ChatStream, chatResourceIds } from './chat-stream.ts';
import { base64Length } from './content-parts.ts';
import type { ElidedStrings } from './elided-strings.ts';
import { asText, isObject } from './json-value.ts';
import { type Bounds, type Meter, saysError } from './meter.ts';
import { countOf, type MeteredBody } from './metered-body.ts';
import { chatToUsage } from './openai-usage.ts';
import { outputTextIn } from './output-text.ts';
import { openaiTiers } from './service-tiers.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy } from './usage.ts';
import { searchesAsked, withSearches } from './web-searches.ts';

/** `/v1/chat/completions`. */
export const chat: Meter = {
  hold: chatHold,
  usage(answer, body) {
    const usage = chatToUsage(reportedBy(answer), body.model.price);
    return usage && withSearches(usage, searchesAsked(body));
  },
  serviceTiers: (answer, { model }) => openaiTiers(answer, model.price),
  mergeReported: (estimate, _answer, body) => withSearches(estimate, searchesAsked(body)),
  outputText: outputTextOf,
  failed: saysError,
  stream: (injectedUsage, body) =>
    new ChatStream({
      injectedUsage,
      price: body.model.price,
      searches: searchesAsked(body),
      isInterleaved: (countOf(body, 'n') ?? 1) > 1,
      // Reading each chunk for the ids of sound takes time, so only where sound was asked for.
      hasSound: isObject(body.value.audio),
    }),
  resourceIds: chatResourceIds,
  estimate: estimateChat,
};

/** Tokens that a chat template adds around a message or tool, and around the whole; vendors document 3 to 10. */
const MESSAGE_OVERHEAD = 16;
const TOOL_OVERHEAD = 64;
const REQUEST_OVERHEAD = 64;

/**
 * An upper bound of what a chat call can cost (specification section 5, Admit).
 *
 * Why it is one: byte-level tokenizers make no token out of less than a byte, and JSON text is never shorter than the
 * UTF-8 text it stands for (an escape is longer than its character), so the bytes of the body bound the tokens of all
 * text in it: messages, tools and schemas. What templates add is bounded per message and tool. Inline media is not
 * text: its base64 is taken off, and each media part counts the configured bound. Output is bounded by the maximum that
 * the request names, times `n`. Where it names none, the model's `maxOutputTokens` stands in, and the bound is as true as
 * that entry of the catalog.
 */
export function chatHold(body: MeteredBody, { imageTokens, storedTokens = 0 }: Bounds): Micro {
  const { messages, tools } = body.value;
  let input = body.textBytes + REQUEST_OVERHEAD + storedTokens;
  if (Array.isArray(messages)) {
    input += messages.length * MESSAGE_OVERHEAD;
    for (const message of messages) input += mediaTokens(message, imageTokens, body.elidedStrings);
  }
  if (Array.isArray(tools)) input += tools.length * TOOL_OVERHEAD;
  const named = Math.max(countOf(body, 'max_tokens') ?? -1, countOf(body, 'max_completion_tokens') ?? -1);
  const output = (named >= 0 ? named : body.model.maxOutputTokens) * Math.max(1, countOf(body, 'n') ?? 1);
  return holdFor(body.model.price, { input: Math.max(0, input), output });
}

/** Token bound of the media parts of a message, less their base64, which `textBytes` has counted as text. */
function mediaTokens(
  message: unknown,
  imageTokens: number,
  elidedStrings: ElidedStrings | undefined,
): number {
  const content = (message as { content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return 0;
  let tokens = 0;
  for (const part of content) {
    const type: unknown = part?.type;
    if (type === 'text' || type === 'refusal' || type === undefined) continue;
    tokens += imageTokens;
    const data: unknown = part.image_url?.url ?? part.input_audio?.data ?? part.file?.file_data;
    if (typeof data === 'string') tokens -= base64Length(data, elidedStrings);
  }
  return tokens;
}

/** About the tokens that vendors' templates add to a message. */
const MESSAGE_TOKENS = 4;

/** Usage of a chat call whose upstream reported none, from the request and the output text. */
async function estimateChat(
  body: MeteredBody,
  outputText: string,
  count: CountTokens,
  storedTokens = 0,
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
  return { input: input + framing + storedTokens, output };
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
