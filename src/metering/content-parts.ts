import type { ElidedStrings } from './elided-strings.ts';
import { asText, isObject } from './json-value.ts';
import type { Bounds } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';

export type ContentPart = Readonly<Record<string, unknown>>;

/**
 * Tokens of an image or a file in an estimate (a hold takes the bound): an image of 1,024 by 1,024 costs 765 to 1,568.
 */
const TYPICAL_MEDIA_TOKENS = 1_000;

/** Types of parts that are text, and of turns and calls that hold parts. Any other type counts as a medium. */
const TEXTUAL: ReadonlySet<unknown> = new Set([
  undefined,
  // OpenAI's, some of which Anthropic has too.
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
 * `content`, `output` and the content of a document are searched: the arguments of a tool call are text to the model,
 * whatever they look like. No recursion, because a client decides how deep its JSON is.
 */
export function contentParts(root: unknown): ContentPart[] {
  const parts: ContentPart[] = [];
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

/** Token bound of the media among the parts, less their base64, which `textBytes` has counted as text. */
export function mediaBound(
  parts: readonly ContentPart[],
  mediumTokens: number,
  elidedStrings: ElidedStrings | undefined,
): number {
  let tokens = 0;
  for (const part of parts) {
    if (!isMedium(part)) continue;
    tokens += mediumTokens;
    const data = inlineData(part);
    if (typeof data === 'string') tokens -= base64Length(data, elidedStrings);
  }
  return tokens;
}

/** An estimate of what a model reads: the text of the parts, and the tokens of the media among them. */
export function readable(parts: readonly ContentPart[]): { text: string; mediaTokens: number } {
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

function isMedium(part: ContentPart): boolean {
  // A document that is given as text or as parts is no medium itself.
  if (part.type === 'document' && isObject(part.source)) {
    return part.source.type !== 'text' && part.source.type !== 'content';
  }
  return !TEXTUAL.has(part.type);
}

function inlineData(part: ContentPart): unknown {
  if (isObject(part.source)) return part.source.type === 'base64' ? part.source.data : undefined;
  if (part.type === 'image_generation_call') return part.result;
  return part.image_url ?? part.file_data;
}

/**
 * Length of the base64 in an inline medium, which is no text (specification section 5, Admit): what follows the comma of
 * a data URL, or the whole string. 0 for a link or a file id, which count as text.
 */
export function base64Length(data: string, elidedStrings: ElidedStrings | undefined): number {
  const long = elidedStrings?.get(data);
  if (long) return long.base64Length;
  const comma = data.startsWith('data:') ? data.indexOf(',') : -1;
  const payload = comma >= 0 ? data.slice(comma + 1) : data;
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(payload) ? payload.length : 0;
}

/** Tokens that a template adds around a turn or tool, and around the whole; vendors document 3 to 10. */
const TURN_OVERHEAD = 16;
const TOOL_OVERHEAD = 64;
const REQUEST_OVERHEAD = 64;

/**
 * An upper bound of the input tokens of a request whose conversation is `turns`. The comment of `chatHold` says why
 * it is one, for any JSON body. `readByProvider`: passes of the model beyond the first, in which it reads what the
 * provider's own tools found; each can fill the context.
 */
export function inputBound(
  body: MeteredBody,
  turns: unknown,
  bounds: Bounds,
  readByProvider: number,
): number {
  const { tools } = body.value;
  const turnCount = Array.isArray(turns) ? turns.length : 1;
  const said =
    body.textBytes +
    REQUEST_OVERHEAD +
    turnCount * TURN_OVERHEAD +
    (Array.isArray(tools) ? tools.length * TOOL_OVERHEAD : 0) +
    mediaBound(contentParts(turns), bounds.imageTokens, body.elidedStrings);
  return Math.max(0, said) + (bounds.storedTokens ?? 0) + readByProvider * bounds.contextTokens;
}

/**
 * Times that a model may use the provider's own tools within one call where the request does not say: ten, the limit
 * that Anthropic documents for its loop.
 */
export const TOOL_ROUNDS = 10;
