import type { Usage } from '../../domain/ledger-entry.ts';
import type { JsonBody } from '../body.ts';
import type { CountTokens } from './meter.ts';

/** Tokens by which the vendors' templates frame a message, about. */
const MESSAGE_TOKENS = 4;

/** What a chat call used, where its upstream did not say: from what was sent and what was received. */
export async function estimateChat(body: JsonBody, written: string, count: CountTokens): Promise<Usage> {
  const { messages, tools } = body.value;
  const texts: string[] = [];
  let framing = 0;
  if (Array.isArray(messages)) {
    framing = messages.length * MESSAGE_TOKENS;
    for (const message of messages) collectText(message, texts);
  }
  if (tools !== undefined) texts.push(JSON.stringify(tools));
  const [input, output] = await Promise.all([count(texts.join('\n')), written === '' ? 0 : count(written)]);
  return { input: input + framing, output };
}

/** What a whole chat answer says, for answers without usage. */
export function writtenIn(answer: unknown): string {
  const { choices } = (answer ?? {}) as { choices?: unknown };
  if (!Array.isArray(choices)) return '';
  const texts: string[] = [];
  for (const choice of choices) {
    const message = (choice as { message?: Record<string, unknown> } | null)?.message;
    if (!message) continue;
    collectText(message, texts);
    if (message.tool_calls) texts.push(JSON.stringify(message.tool_calls));
    if (typeof message.reasoning_content === 'string') texts.push(message.reasoning_content);
  }
  return texts.join('');
}

function collectText(message: unknown, texts: string[]): void {
  const content = (message as { content?: unknown } | null)?.content;
  if (typeof content === 'string') texts.push(content);
  else if (Array.isArray(content)) {
    for (const part of content) if (typeof part?.text === 'string') texts.push(part.text);
  }
}
