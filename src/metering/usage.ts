import type { Usage } from '../domain/usage.ts';
import { isObject } from './json-value.ts';

/**
 * Readers of what providers report as used, from the `usage` object of each wire format to `Usage`.
 *
 * Rules of all readers (specification section 5): a report without the counts that its format requires, or with a count
 * that is negative, no whole number or absurd, is no report: the reader returns undefined, and the charge is estimated.
 * Reported zeros stay zeros.
 */

/** An object as it came over the network: each member may be missing or of any type. */
type Untrusted<T> = { readonly [Member in keyof T]?: unknown };

/** Parts of the input tokens that have prices of their own; both are inside the total. OpenAI's formats. */
interface OpenAIInputDetails {
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
}

/** `usage` of chat and text completions and of embeddings, which have no `completion_tokens`. */
interface ChatUsage {
  readonly prompt_tokens: number;
  readonly prompt_tokens_details: OpenAIInputDetails;
  /** With reasoning inside. */
  readonly completion_tokens: number;
}

/** `usage` of responses, images, speech and transcripts. */
interface ResponsesUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: OpenAIInputDetails;
  /** With reasoning inside. */
  readonly output_tokens: number;
}

/** `usage` of Anthropic's messages. `null` means absent. */
interface MessagesUsage {
  /** Without the tokens that were read from a cache or written to one. */
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly output_tokens: number;
  /** Model calls within the request. Those of type `compaction` are not part of the counts above. */
  readonly iterations: readonly (MessagesUsage & { readonly type: string })[];
}

const MESSAGES_FIELDS = [
  ['input_tokens', 'input'],
  ['cache_read_input_tokens', 'cachedInput'],
  ['cache_creation_input_tokens', 'cacheWrite'],
  ['output_tokens', 'output'],
] as const satisfies readonly (readonly [keyof MessagesUsage, keyof Usage])[];

/** More tokens than any model reads or writes in one call. */
const ABSURD_TOKENS = 1_000_000_000;
/** 115 days: longer than any audio that one call can upload. */
const ABSURD_SECONDS = 10_000_000;

/** The `usage` member of an answer or a chunk; undefined where the answer has none or is no object. */
export function reportedBy(answer: unknown): unknown {
  return untrusted<{ usage: unknown }>(answer)?.usage;
}

export function chatToUsage(reported: unknown): Usage | undefined {
  const usage = untrusted<ChatUsage>(reported);
  return tokens(usage?.prompt_tokens, usage?.prompt_tokens_details, usage?.completion_tokens);
}

/** Embeddings have no output tokens. */
export function embeddingsToUsage(reported: unknown): Usage | undefined {
  const input = tokenCount(untrusted<ChatUsage>(reported)?.prompt_tokens);
  return input === undefined ? undefined : inputUsage(input, undefined);
}

export function responsesToUsage(reported: unknown): Usage | undefined {
  const usage = untrusted<ResponsesUsage>(reported);
  return tokens(usage?.input_tokens, usage?.input_tokens_details, usage?.output_tokens);
}

/** The usage of a whole message, compaction included. */
export function messagesToUsage(reported: unknown): Usage | undefined {
  const part = messagesToPartialUsage(reported);
  if (part?.input === undefined || part.output === undefined) return undefined;
  return addTokens({ cachedInput: 0, cacheWrite: 0, ...part }, compactionToUsage(reported));
}

/**
 * The counts that one event of a messages stream reports: each event has some of the fields. Undefined where any of
 * them is not to be believed.
 */
export function messagesToPartialUsage(reported: unknown): Usage | undefined {
  const usage = untrusted<MessagesUsage>(reported);
  if (!usage) return undefined;
  const part: Usage = {};
  for (const [theirs, ours] of MESSAGES_FIELDS) {
    const value = usage[theirs] ?? undefined;
    if (value === undefined) continue;
    const count = tokenCount(value);
    if (count === undefined) return undefined;
    part[ours] = count;
  }
  return part;
}

/** What compacting a conversation cost: model calls of their own, which Anthropic reports among the `iterations` only. */
export function compactionToUsage(reported: unknown): Usage {
  const iterations = untrusted<MessagesUsage>(reported)?.iterations;
  const sum: Usage = {};
  for (const iteration of Array.isArray(iterations) ? iterations : []) {
    if (untrusted<{ type: string }>(iteration)?.type === 'compaction')
      addTokens(sum, messagesToPartialUsage(iteration) ?? {});
  }
  return sum;
}

/** Adds the token counts of `more` to `sum`, and returns `sum`. */
export function addTokens(sum: Usage, more: Usage): Usage {
  for (const [, name] of MESSAGES_FIELDS) {
    if (more[name] !== undefined) sum[name] = (sum[name] ?? 0) + more[name];
  }
  return sum;
}

/** Seconds of audio as a number, or as text, which some providers write. 0 to ABSURD_SECONDS, fractions included. */
export function reportedSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= ABSURD_SECONDS ? seconds : undefined;
}

/**
 * The usage of a stream that ended early: what was reported by then replaces the estimate. Of the output the larger
 * counts, because the report may be from long before the end (Anthropic's first event reports a token or so).
 */
export function mergeReported(estimate: Usage, reported: Usage | undefined): Usage {
  if (!reported) return estimate;
  const output = Math.max(estimate.output ?? 0, reported.output ?? 0);
  return { ...estimate, ...reported, output };
}

function tokens(reportedInput: unknown, details: unknown, reportedOutput: unknown): Usage | undefined {
  const input = tokenCount(reportedInput);
  const output = tokenCount(reportedOutput);
  if (input === undefined || output === undefined) return undefined;
  return { ...inputUsage(input, details), output };
}

/** Splits input tokens by price. Details beyond the total are cut down to it. */
function inputUsage(input: number, details: unknown): Usage {
  const { cached_tokens: cached, cache_write_tokens: written } = untrusted<OpenAIInputDetails>(details) ?? {};
  const cachedInput = Math.min(tokenCount(cached) ?? 0, input);
  const cacheWrite = Math.min(tokenCount(written) ?? 0, input - cachedInput);
  return {
    input: input - cachedInput - cacheWrite,
    cachedInput,
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
  };
}

function tokenCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < ABSURD_TOKENS
    ? (value as number)
    : undefined;
}

function untrusted<T>(value: unknown): Untrusted<T> | undefined {
  return isObject(value) ? (value as Untrusted<T>) : undefined;
}
