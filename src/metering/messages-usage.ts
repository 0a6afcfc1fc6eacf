import type { Terms } from '../domain/bill.ts';
import type { Price } from '../domain/catalog.ts';
import type { Usage } from '../domain/units.ts';
import { addUsage, countIn, untrusted } from './usage.ts';

/** `usage` of Anthropic messages. `null` means absent. */
interface MessagesUsage {
  /** Excludes tokens read from or written to a cache. */
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  /** Written tokens by lifetime; their sum is `cache_creation_input_tokens`. */
  readonly cache_creation: CacheCreation | null;
  readonly output_tokens: number;
  readonly server_tool_use: { readonly web_search_requests: number } | null;
  readonly iterations: readonly Iteration[] | null;
}

/** `ephemeral_5m_input_tokens`, `ephemeral_1h_input_tokens`, and so on. */
type CacheCreation = Readonly<Record<string, number>>;

/** A model call within the request. */
type Iteration = MessagesUsage & { readonly type: string };

/** Counts reported by one event or answer; absent if not reported. */
export interface MessagesCounts {
  readonly input?: number;
  readonly cachedInput?: number;
  readonly output?: number;
  /** Tokens written to a cache, of any lifetime. */
  readonly written?: number;
  readonly written5m?: number;
  /** Tokens cached for longer than 5 minutes. */
  readonly written1h?: number;
  readonly webSearches?: number;
}

const COUNTS = [
  ['input_tokens', 'input'],
  ['cache_read_input_tokens', 'cachedInput'],
  ['cache_creation_input_tokens', 'written'],
  ['output_tokens', 'output'],
] as const satisfies readonly (readonly [keyof MessagesUsage, keyof MessagesCounts])[];

/** Usage of a whole message, including all model calls within it. */
export function messagesToUsage(
  reported: unknown,
  asksLongCache: () => boolean = () => false,
): Usage | undefined {
  const counts = messagesCounts(reported);
  return counts && usageOfCounts(dividedWrites(counts, asksLongCache), iterationsOf(reported));
}

/** Like `messagesToUsage`, for counts from several events. Undefined without input or output. */
export function usageOfCounts(counts: MessagesCounts, iterations: unknown): Usage | undefined {
  if (counts.input === undefined || counts.output === undefined) return undefined;
  const { messages, others, beyond } = sumIterations(iterations);
  const totals: Usage = { cachedInput: 0, cacheWrite: 0, ...partialUsage(counts, messages.cacheWrite1h) };
  return addUsage(addUsage(beyond, missing(others, messages, totals)), totals);
}

/**
 * Counts in one event of a messages stream, which has only some of the fields. Undefined if any token count is invalid.
 */
export function messagesCounts(reported: unknown): MessagesCounts | undefined {
  const usage = untrusted<MessagesUsage>(reported);
  if (!usage) return undefined;
  const counts: { -readonly [Name in keyof MessagesCounts]: number } = {};
  for (const [theirs, ours] of COUNTS) {
    const value = usage[theirs] ?? undefined;
    if (value === undefined) continue;
    const count = countIn(value);
    if (count === undefined) return undefined;
    counts[ours] = count;
  }
  const tools = untrusted<{ web_search_requests: number }>(usage.server_tool_use);
  const webSearches = countIn(tools?.web_search_requests);
  if (webSearches !== undefined) counts.webSearches = webSearches;
  return Object.assign(counts, writesByLife(usage.cache_creation));
}

/** Written tokens by lifetime. */
function writesByLife(reported: unknown): Pick<MessagesCounts, 'written5m' | 'written1h'> {
  const counts: { written5m?: number; written1h?: number } = {};
  for (const [name, tokens] of Object.entries(untrusted<CacheCreation>(reported) ?? {})) {
    const count = name.startsWith('ephemeral_') ? countIn(tokens) : undefined;
    if (count === undefined) continue;
    if (name === 'ephemeral_5m_input_tokens') counts.written5m = count;
    else counts.written1h = (counts.written1h ?? 0) + count;
  }
  return counts;
}

/** Counts undivided written tokens as long-lived if the request asks for the longer lifetime. */
export function dividedWrites(counts: MessagesCounts, asksLongCache: () => boolean): MessagesCounts {
  const { written = 0, written5m, written1h } = counts;
  const isUndivided = written > 0 && written5m === undefined && written1h === undefined;
  return isUndivided && asksLongCache() ? { ...counts, written1h: written } : counts;
}

/**
 * Converts counts to usage. Long-lived written tokens are as reported, at most all written tokens. `written1h`:
 * long-lived tokens that another part of the report states.
 */
export function partialUsage(counts: MessagesCounts, written1h = 0): Usage {
  const { input, cachedInput, output, webSearches } = counts;
  const usage: Usage = {};
  if (input !== undefined) usage.input = input;
  if (cachedInput !== undefined) usage.cachedInput = cachedInput;
  const for1h = Math.max(counts.written1h ?? 0, written1h);
  const written =
    counts.written ?? (counts.written1h === undefined ? undefined : for1h + (counts.written5m ?? 0));
  if (written !== undefined) {
    const cacheWrite1h = Math.min(for1h, written);
    usage.cacheWrite = written - cacheWrite1h;
    if (cacheWrite1h > 0) usage.cacheWrite1h = cacheWrite1h;
  }
  if (output !== undefined) usage.output = output;
  if (webSearches) usage.webSearches = webSearches;
  return usage;
}

/** Usage of model calls within a message that its totals exclude. */
export function beyondTotals(iterations: unknown): Usage {
  return sumIterations(iterations).beyond;
}

/** Model calls in a reported usage; undefined if absent. */
export function iterationsOf(reported: unknown): unknown {
  return untrusted<MessagesUsage>(reported)?.iterations;
}

/** Whether any call may have run another model. Such calls have this model's price, and the row is an estimate. */
export function hasOtherModels(iterations: unknown): boolean {
  return sumIterations(iterations).hasOthers;
}

/** Types of calls that run the requested model. */
const OWN_CALLS: ReadonlySet<unknown> = new Set(['message', 'compaction']);

/** Passes of a message, if the model's price depends on their length and the requested model ran them all. */
export function passTerms(iterations: unknown, { model: { price } }: PricedModel): Pick<Terms, 'passes'> {
  if (price.tiers.length === 0 || !Array.isArray(iterations) || iterations.length < 2) return {};
  const isOwn = iterations.every((iteration) => OWN_CALLS.has(untrusted<Iteration>(iteration)?.type));
  if (!isOwn) return {};
  return {
    passes: iterations.map((iteration) => {
      // Searches count for the whole message.
      const { webSearches: _, ...usage } = partialUsage(messagesCounts(iteration) ?? {});
      return usage;
    }),
  };
}

interface PricedModel {
  readonly model: { readonly price: Pick<Price, 'tiers'> };
}

interface Sums {
  /** Calls of the requested model, which the totals include. */
  readonly messages: Usage;
  /** Calls of unknown type, which the totals may include. */
  readonly others: Usage;
  /** Calls that the totals exclude. */
  readonly beyond: Usage;
  readonly hasOthers: boolean;
}

/**
 * Sums model calls by type, as Anthropic's SDK 1.11.0 documents them: totals include `message`, but neither
 * `compaction` (`BetaIterationsUsage`) nor `advisor_message`, which runs another model. Requests that name another
 * model are refused, so advisors, `fallback_message` and new types should not occur.
 */
function sumIterations(iterations: unknown): Sums {
  const [messages, others, beyond]: [Usage, Usage, Usage] = [{}, {}, {}];
  let hasOthers = false;
  for (const iteration of Array.isArray(iterations) ? iterations : []) {
    const type = untrusted<Iteration>(iteration)?.type;
    const usage = partialUsage(messagesCounts(iteration) ?? {});
    if (type === 'message') addUsage(messages, usage);
    else if (type === 'compaction') addUsage(beyond, usage);
    else {
      addUsage(type === 'advisor_message' ? beyond : others, usage);
      hasOthers = true;
    }
  }
  return { messages, others, beyond, hasOthers };
}

/**
 * Returns the share of unknown calls that the totals lack: per dimension, the sum of all calls minus the totals. It is
 * zero if the totals include the unknown calls, and all of them if the totals cover only the requested model.
 */
function missing(others: Usage, messages: Usage, totals: Usage): Usage {
  const lacking: Usage = {};
  for (const name of Object.keys(others) as (keyof Usage)[]) {
    const count = others[name] ?? 0;
    const beyond = (messages[name] ?? 0) + count - (totals[name] ?? 0);
    if (beyond > 0) lacking[name] = Math.min(beyond, count);
  }
  return lacking;
}
