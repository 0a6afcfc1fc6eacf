import type { Usage } from '../domain/ledger-entry.ts';
import { asText, isObject } from './parts.ts';
import { reportedCount } from './reported-count.ts';
import { wordsOf } from './written-text.ts';

/** Anthropic's names, and ours. Its `input_tokens` are without those read from or written to a cache. */
const FIELDS = [
  ['input_tokens', 'input'],
  ['cache_read_input_tokens', 'cachedInput'],
  ['cache_creation_input_tokens', 'cacheWrite'],
  ['output_tokens', 'output'],
] as const satisfies readonly (readonly [string, keyof Usage])[];

/**
 * What a `usage` object of Anthropic's format reports: in a stream it is spread over events, each with some of the
 * fields. Undefined where any field is negative or absurd: then none of it is believed. Zeros stay zeros, null is absent.
 */
export function messagesUsagePart(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const part: Usage = {};
  for (const [theirs, ours] of FIELDS) {
    const value = usage[theirs] ?? undefined;
    if (value === undefined) continue;
    const tokens = reportedCount(value);
    if (tokens === undefined) return undefined;
    part[ours] = tokens;
  }
  return part;
}

/**
 * What compacting a conversation cost, which is a call of the model of its own: Anthropic reports it among the
 * `iterations` (of type `compaction`) and not in the fields of the whole.
 */
export function compactionUsage(usage: unknown): Usage {
  const sum: Usage = {};
  const iterations = isObject(usage) && Array.isArray(usage.iterations) ? usage.iterations : [];
  for (const iteration of iterations) {
    if (isObject(iteration) && iteration.type === 'compaction')
      addUsage(sum, messagesUsagePart(iteration) ?? {});
  }
  return sum;
}

/** Adds token counts to `sum`. */
export function addUsage(sum: Usage, more: Usage): Usage {
  for (const [, name] of FIELDS) {
    if (more[name] !== undefined) sum[name] = (sum[name] ?? 0) + more[name];
  }
  return sum;
}

/** Usage of a whole message; undefined where input or output is not reported, or any of it is not to be believed. */
export function messagesUsage(message: unknown): Usage | undefined {
  const usage = isObject(message) ? message.usage : undefined;
  const part = messagesUsagePart(usage);
  if (part?.input === undefined || part.output === undefined) return undefined;
  return addUsage({ cachedInput: 0, cacheWrite: 0, ...part }, compactionUsage(usage));
}

/** What a whole message says: text, thinking, and what tools are called and called with; not what its tools found. */
export function messagesWritten(message: unknown): string {
  const content = isObject(message) ? message.content : undefined;
  if (!Array.isArray(content)) return '';
  return content
    .filter((block) => isObject(block) && !/_tool_result$/.test(asText(block.type)))
    .map((block) => wordsOf(asText(block)))
    .join('');
}

/** What the provider keeps of a message for the next ones: the container in which code ran, and files that it made. */
export function messageResourceIds(message: unknown): string[] {
  if (!isObject(message)) return [];
  const { container, content } = message;
  const ids = Array.isArray(content) ? content.flatMap(filesMade) : [];
  return isObject(container) && typeof container.id === 'string' ? [container.id, ...ids] : ids;
}

/** Files that code made, as a `code_execution_tool_result` or `bash_code_execution_tool_result` names them. */
export function filesMade(block: unknown): string[] {
  const result = isObject(block) ? block.content : undefined;
  const files = isObject(result) && Array.isArray(result.content) ? result.content : [];
  return files.flatMap((file) => (isObject(file) && typeof file.file_id === 'string' ? [file.file_id] : []));
}
