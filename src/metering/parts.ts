import { base64Length } from './inline-data.ts';
import type { LongTexts } from './long-texts.ts';

export type Part = Readonly<Record<string, unknown>>;

/** Tokens of an image or a file as it is estimated, not bounded: an image of 1,024 by 1,024 costs 765 to 1,568. */
const TYPICAL_MEDIA_TOKENS = 1_000;

/** Parts that are text, and the turns and calls that hold parts. Whatever is not listed counts as a medium. */
const TEXTUAL: ReadonlySet<unknown> = new Set([
  undefined,
  // Both formats, and OpenAI's.
  'text',
  'message',
  'input_text',
  'output_text',
  'refusal',
  'summary_text',
  'reasoning_text',
  'reasoning',
  'item_reference',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'computer_call',
  'computer_call_output',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  // Anthropic's.
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'server_tool_use',
  'mcp_tool_use',
  'mcp_tool_result',
  'search_result',
  'web_search_tool_result',
  'web_search_result',
]);

/**
 * The turns of a conversation and the parts within them, in OpenAI's Responses or Anthropic's Messages format. Only
 * `content`, `output` and the content of a document are looked into: what a tool is called with is text to the model,
 * whatever it looks like. No recursion, because a client decides how deep its JSON is.
 */
export function partsOf(root: unknown): Part[] {
  const parts: Part[] = [];
  const open: unknown[] = [root];
  // The list grows while it is walked.
  for (const value of open) {
    if (Array.isArray(value)) {
      for (const inner of value) if (isObject(inner) || Array.isArray(inner)) open.push(inner);
    } else if (isObject(value)) {
      parts.push(value);
      open.push(value.content, value.output, isObject(value.source) ? value.source.content : undefined);
    }
  }
  return parts;
}

/** Bound of the media among the parts, less the base64 by which they stand in the body. */
export function mediaBound(
  parts: readonly Part[],
  mediumTokens: number,
  longTexts: LongTexts | undefined,
): number {
  let tokens = 0;
  for (const part of parts) {
    if (!isMedium(part)) continue;
    tokens += mediumTokens;
    const data = inlineData(part);
    if (typeof data === 'string') tokens -= base64Length(data, longTexts);
  }
  return tokens;
}

/** The text of the parts as a model reads it, about, and the tokens of the media among them, about. */
export function readable(parts: readonly Part[]): { text: string; mediaTokens: number } {
  const texts: string[] = [];
  let mediaTokens = 0;
  for (const part of parts) {
    if (isMedium(part)) mediaTokens += TYPICAL_MEDIA_TOKENS;
    for (const value of [part.content, part.output, part.text, part.arguments, part.thinking, part.refusal]) {
      if (typeof value === 'string') texts.push(value);
    }
    if (part.input !== undefined) texts.push(asText(part.input));
    if (isObject(part.source) && part.source.type === 'text') texts.push(asText(part.source.data));
  }
  return { text: texts.join('\n'), mediaTokens };
}

export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.parse reads any depth, JSON.stringify overflows its stack at some thousands: what is that deep is counted too.
    return wordsIn(value);
  }
}

/** The names and values in it, in no particular order. */
function wordsIn(root: unknown): string {
  const words: string[] = [];
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) words.push(String(value));
    else for (const [name, inner] of Object.entries(value)) open.push(name, inner);
  }
  return words.join(' ');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMedium(part: Part): boolean {
  // A document may be given as text or as parts, which count as such.
  if (part.type === 'document' && isObject(part.source)) {
    return part.source.type !== 'text' && part.source.type !== 'content';
  }
  return !TEXTUAL.has(part.type);
}

function inlineData(part: Part): unknown {
  if (isObject(part.source)) return part.source.type === 'base64' ? part.source.data : undefined;
  if (part.type === 'image_generation_call') return part.result;
  return part.image_url ?? part.file_data;
}
