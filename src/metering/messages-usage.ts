import type { Terms } from '../domain/bill.ts';
import type { Price } from '../domain/catalog.ts';
import type { Usage } from '../domain/units.ts';
import { addUsage, countIn, untrusted } from './usage.ts';

/** `usage` of Anthropic's messages. `null` means absent. */
interface MessagesUsage {
  /** Without the tokens that were read from a cache or written to one. */
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  /** Written tokens, which `cache_creation_input_tokens` sums, by how long they are kept. */
  readonly cache_creation: CacheCreation | null;
  readonly output_tokens: number;
  readonly server_tool_use: { readonly web_search_requests: number } | null;
  readonly iterations: readonly Iteration[] | null;
}

/** `ephemeral_5m_input_tokens`, `ephemeral_1h_input_tokens`, and so on. */
type CacheCreation = Readonly<Record<string, number>>;

/** A model call within the request. */
type Iteration = MessagesUsage & { readonly type: string };

/** Counts as one event or answer reports them; each is absent if it does not. */
export interface MessagesCounts {
  readonly input?: number;
  readonly cachedInput?: number;
  readonly output?: number;
  /** Tokens written to a cache, whatever it keeps them for. */
  readonly written?: number;
  readonly written5m?: number;
  /** Those that it keeps longer than 5 minutes. */
  readonly written1h?: number;
  readonly webSearches?: number;
}

const COUNTS = [
  ['input_tokens', 'input'],
  ['cache_read_input_tokens', 'cachedInput'],
  ['cache_creation_input_tokens', 'written'],
  ['output_tokens', 'output'],
] as const satisfies readonly (readonly [keyof MessagesUsage, keyof MessagesCounts])[];

/** The usage of a whole message, with all model calls within it. */
export function messagesToUsage(
  reported: unknown,
  asksLongCache: () => boolean = () => false,
): Usage | undefined {
  const counts = messagesCounts(reported);
  return counts && usageOfCounts(dividedWrites(counts, asksLongCache), iterationsOf(reported));
}

/** Usage from counts that came in several events; else as `messagesToUsage`. Undefined without input or output. */
export function usageOfCounts(counts: MessagesCounts, iterations: unknown): Usage | undefined {
  if (counts.input === undefined || counts.output === undefined) return undefined;
  const { messages, others, beyond } = sumIterations(iterations);
  const totals: Usage = { cachedInput: 0, cacheWrite: 0, ...partialUsage(counts, messages.cacheWrite1h) };
  return addUsage(addUsage(beyond, missing(others, messages, totals)), totals);
}

/**
 * The counts that one event of a messages stream reports: each event has some of the fields. Undefined if any of
 * the tokens is not to be believed.
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

/** Written tokens by how long they are kept. */
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

/**
 * Counts whose written tokens all are those of the longer life, if the report does not divide them and the request asks
 * for it.
 */
export function dividedWrites(counts: MessagesCounts, asksLongCache: () => boolean): MessagesCounts {
  const { written = 0, written5m, written1h } = counts;
  const isUndivided = written > 0 && written5m === undefined && written1h === undefined;
  return isUndivided && asksLongCache() ? { ...counts, written1h: written } : counts;
}

/**
 * The dimensions of some counts. Written tokens are those of a longer life as far as the report says so, at most all of them.
 * `written1h`: what another part of the report says of them.
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

/** Usage of the model calls within a message that its totals leave out. */
export function beyondTotals(iterations: unknown): Usage {
  return sumIterations(iterations).beyond;
}

/** The list of model calls in a reported usage; undefined if there is none. */
export function iterationsOf(reported: unknown): unknown {
  return untrusted<MessagesUsage>(reported)?.iterations;
}

/**
 * True if a report has model calls that may be another model's. Their tokens are charged at the price of this model,
 * and the row counts as an estimate.
 */
export function hasOtherModels(iterations: unknown): boolean {
  return sumIterations(iterations).hasOthers;
}

/** Types of model calls that are this model's own. */
const OWN_CALLS: ReadonlySet<unknown> = new Set(['message', 'compaction']);

/** The passes of a message, if the model's price depends on their length, and all are this model's. */
export function passTerms(iterations: unknown, { model: { price } }: PricedModel): Pick<Terms, 'passes'> {
  if (price.tiers.length === 0 || !Array.isArray(iterations) || iterations.length < 2) return {};
  const isOwn = iterations.every((iteration) => OWN_CALLS.has(untrusted<Iteration>(iteration)?.type));
  if (!isOwn) return {};
  return {
    passes: iterations.map((iteration) => {
      // Searches are counted for the whole message.
      const { webSearches: _, ...usage } = partialUsage(messagesCounts(iteration) ?? {});
      return usage;
    }),
  };
}

interface PricedModel {
  readonly model: { readonly price: Pick<Price, 'tiers'> };
}

interface Sums {
  /** The model's own calls, which the totals include. */
  readonly messages: Usage;
  /** Calls of an unknown type, which the totals may include or not. */
  readonly others: Usage;
  /** Calls that the totals do not include. */
  readonly beyond: Usage;
  readonly hasOthers: boolean;
}

/**
 * The model calls of a message by type, as the types and pages of Anthropic's SDK 1.11.0 describe them: `message` is in the
 * totals; `compaction` is not (`BetaIterationsUsage`); `advisor_message` is another model's, and not either. Requests that
 * name another model are refused, so an advisor, a `fallback_message` or a new type should not come.
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
 * The part of the calls of an unknown type that the totals lack: by how much the totals are less than the sum of all
 * calls, dimension by dimension. Totals that include those calls lack nothing; totals of the model's own calls lack all
 * of them.
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
