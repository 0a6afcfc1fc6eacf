import type { ElidedStrings } from './json/elided-strings.ts';
import { asText, isObject } from './json/value.ts';

export type ContentPart = Readonly<Record<string, unknown>>;

/** Tokens of an image or file in an estimate; a hold takes the bound. An image of 1,024 by 1,024 costs 765 to 1,568. */
const TYPICAL_MEDIA_TOKENS = 1_000;

/** Part types that are text, and types of turns and calls that hold parts. Any other type counts as media. */
export const TEXTUAL: ReadonlySet<unknown> = new Set([
  undefined,
  // OpenAI types, some shared with Anthropic.
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
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'configuration_update',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
  'encrypted_content',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'program',
  'program_output',
  'agent_message',
  // Anthropic types.
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
  'web_fetch_tool_result',
  'web_fetch_result',
  'tool_reference',
  'tool_search_tool_result',
  'tool_search_tool_search_result',
  'tool_addition',
  'tool_removal',
  'mcp_tool_listing',
  'fallback',
  'code_execution_tool_result',
  'code_execution_result',
  'bash_code_execution_tool_result',
  'bash_code_execution_result',
  'text_editor_code_execution_tool_result',
  'advisor_tool_result',
  'browser_state',
]);

/** Members by which a lenient provider recognizes media without a type. */
const NAMES_OF_MEDIA = ['image_url', 'input_audio', 'file', 'file_url', 'file_data', 'video_url', 'source'];

/**
 * Collects the turns of a conversation and their parts, in OpenAI's Responses or Anthropic's Messages format. Searches
 * only `content`, `output` and document content: arguments of a tool call are text to the model, whatever their shape.
 * No recursion, because the client chooses the depth of its JSON.
 */
export function contentParts(root: unknown): ContentPart[] {
  const parts: ContentPart[] = [];
  const open: unknown[] = [root];
  // The list grows during the loop.
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

/** Estimates the tokens that a model reads: the text of the parts, and the tokens of their media. */
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
  return { text: texts.join(' '), mediaTokens };
}

/** Whether a part is media. A part without a type is, if it has a member of media. */
export function isMedium(part: ContentPart): boolean {
  // A document given as text or as parts isn't media itself.
  if (part.type === 'document' && isObject(part.source)) {
    return part.source.type !== 'text' && part.source.type !== 'content';
  }
  if (part.type === undefined) return NAMES_OF_MEDIA.some((name) => isMediumOf(part[name]));
  return !TEXTUAL.has(part.type);
}

function isMediumOf(value: unknown): boolean {
  return isObject(value) || (typeof value === 'string' && /^\s*(?:data|https?):/i.test(value));
}

/**
 * Length of the base64 in inline media, which is not text (specification section 5, Admit): the string after the comma
 * of a data URL, or the whole string. 0 for a link or a file id, which count as text.
 */
export function base64Length(data: string, elidedStrings: ElidedStrings | undefined): number {
  const long = elidedStrings?.get(data);
  if (long) return long.base64Length;
  const comma = data.startsWith('data:') ? data.indexOf(',') : -1;
  const payload = comma >= 0 ? data.slice(comma + 1) : data;
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(payload) ? payload.length : 0;
}
