import type { Usage } from '../domain/ledger-entry.ts';
import type { CountTokens } from './long-texts.ts';
import type { MeteredBody } from './metered-body.ts';
import { asText, isObject } from './parts.ts';
import { wordsOf } from './written-text.ts';

/** Tokens by which the vendors' templates frame a message, about. */
const MESSAGE_TOKENS = 4;

/** What a chat call used, where its upstream did not say: from what was sent and what was received. */
export async function estimateChat(
  body: MeteredBody,
  written: string,
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
  const [input, output] = await Promise.all([count(texts.join('\n')), written === '' ? 0 : count(written)]);
  return { input: input + framing + storedTokens, output };
}

/** What a whole chat answer says, for answers without usage. */
export function writtenIn(answer: unknown): string {
  const choices = isObject(answer) ? answer.choices : undefined;
  if (!Array.isArray(choices)) return '';
  return choices.map((choice) => wordsOf(asText(isObject(choice) ? choice.message : undefined))).join('');
}

/** What tools are called, and what they are called with. */
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
