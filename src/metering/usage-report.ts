import type { Price } from '../domain/catalog.ts';
import { INPUT_DIMENSIONS, OUTPUT_DIMENSIONS, outputTokens, type Usage } from '../domain/units.ts';
import { above0, splitInput } from './input-split.ts';
import { isObject } from './json/value.ts';

/**
 * Reads the usage reports of providers, for every endpoint and format. PLACES says where a report can stand, NAMES which
 * count a name means. The counts of an answer's events are merged (`mergeCounts`), then split into priced dimensions
 * (`usageOf`). A provider that reports wrong counts is believed; a report that can't be true is not (docs/charges.md,
 * "What is read from an answer").
 */

/** What a report counts, before it is split up; absent if not reported. */
export interface Counts {
  readonly input?: number;
  readonly output?: number;
  readonly total?: number;
  /** Input read from a cache. */
  readonly cached?: number;
  /** Input written to a cache, of any lifetime. */
  readonly written?: number;
  /** Written for the vendor's shortest lifetime, and for longer. */
  readonly writtenShort?: number;
  readonly writtenLong?: number;
  readonly audio?: number;
  readonly image?: number;
  readonly cachedText?: number;
  readonly cachedAudio?: number;
  readonly cachedImage?: number;
  readonly outputText?: number;
  readonly outputAudio?: number;
  readonly outputImage?: number;
  readonly webSearches?: number;
  /** Seconds of sound, with fractions. */
  readonly seconds?: number;
  /** Cache counts have Anthropic's names, by which they stand beside the input of a message. */
  readonly isBeside?: true;
  /** The input has OpenAI's name, which includes the cache. */
  readonly isWhole?: true;
}

type Count = Exclude<keyof Counts, 'isBeside' | 'isWhole'>;
type MutableCounts = { -readonly [Name in keyof Counts]: Counts[Name] };
type Names = readonly (readonly [name: string, count: Count])[];

/** Where a report can stand in an answer or an event of a stream, outermost first. */
const PLACES: readonly (readonly (string | number)[])[] = [
  ['usage'],
  // Moonshot's streams.
  ['choices', 0, 'usage'],
  // Groq's streams.
  ['x_groq', 'usage'],
  // Anthropic's first event, and the last one of a response.
  ['message', 'usage'],
  ['response', 'usage'],
  // Bedrock's last event, whatever the format.
  ['amazon-bedrock-invocationMetrics'],
];

/** Cache counts, at the root of a report or in the details of its input. */
const CACHE: Names = [
  // OpenAI in details; Moonshot at the root.
  ['cached_tokens', 'cached'],
  // Anthropic, and LiteLLM's chat format.
  ['cache_read_input_tokens', 'cached'],
  // DeepSeek.
  ['prompt_cache_hit_tokens', 'cached'],
  // Mistral.
  ['num_cached_tokens', 'cached'],
  ['cache_read_tokens', 'cached'],
  ['cacheReadInputTokenCount', 'cached'],
  // OpenAI and OpenRouter.
  ['cache_write_tokens', 'written'],
  // Envoy AI Gateway.
  ['cached_write_tokens', 'written'],
  // LiteLLM in details.
  ['cache_creation_tokens', 'written'],
  // Anthropic, and LiteLLM's and Qwen's chat format.
  ['cache_creation_input_tokens', 'written'],
  ['cacheWriteInputTokenCount', 'written'],
];

/** Both families of names, which providers use on each other's endpoints, and Bedrock's. */
const AT_ROOT: Names = [
  ['prompt_tokens', 'input'],
  ['input_tokens', 'input'],
  ['inputTokenCount', 'input'],
  ['completion_tokens', 'output'],
  ['output_tokens', 'output'],
  ['outputTokenCount', 'output'],
  ['total_tokens', 'total'],
  ...CACHE,
];

const IN_INPUT_DETAILS: Names = [...CACHE, ['audio_tokens', 'audio'], ['image_tokens', 'image']];
const IN_OUTPUT_DETAILS: Names = [
  ['text_tokens', 'outputText'],
  ['audio_tokens', 'outputAudio'],
  ['image_tokens', 'outputImage'],
];
/** With the names of OpenAI's realtime usage and of its image tool. */
const IN_CACHED_DETAILS: Names = [
  ['text_tokens', 'cachedText'],
  ['cached_text_tokens', 'cachedText'],
  ['audio_tokens', 'cachedAudio'],
  ['image_tokens', 'cachedImage'],
  ['cached_image_tokens', 'cachedImage'],
];
/** Written tokens by lifetime: Anthropic's; LiteLLM's; OpenAI's, such as `ttl_12h_tokens`. */
const BY_LIFETIME = ['cache_creation', 'cache_creation_token_details', 'cache_write_tokens_details'] as const;
const LIFETIME = /^(?:ephemeral_[^_]+_input|ttl_[^_]+)_tokens$/;
const SHORTEST: ReadonlySet<string> = new Set(['ephemeral_5m_input_tokens', 'ttl_30m_tokens']);

const INPUT_DETAILS = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details'] as const;
const OUTPUT_DETAILS = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
] as const;

/** Names by which Anthropic and Bedrock count the cache beside the input of a message. */
const BESIDE = [
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'cacheReadInputTokenCount',
  'cacheWriteInputTokenCount',
] as const;

/** More tokens than any model reads or writes in one call. */
const ABSURD_TOKENS = 1_000_000_000;
/** Some providers send counts as text. */
const DIGITS = /^\d{1,10}(?:\.0+)?$/;

/** A count of tokens or searches; undefined if absent, negative, fractional or absurd. */
export function countIn(value: unknown): number | undefined {
  const count = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) < ABSURD_TOKENS
    ? (count as number)
    : undefined;
}

/** 115 days: longer than any audio that one call can upload. */
const ABSURD_SECONDS = 10_000_000;

/** Seconds of audio, 0 to ABSURD_SECONDS, fractions included. Some providers send text. */
export function secondsIn(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= ABSURD_SECONDS ? seconds : undefined;
}

/** A report as it came, and what it counts. */
export interface Report {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly counts: Counts;
}

/**
 * The report in an answer or an event, wherever it stands: the outermost one that counts anything above 0, else the
 * outermost of zeros.
 */
export function reportIn(answer: unknown): Report | undefined {
  let zeros: Report | undefined;
  for (const place of PLACES) {
    const raw = valueAt(answer, place);
    if (!isObject(raw)) continue;
    const counts = countsOf(raw);
    if (isAbove0(counts)) return { raw, counts };
    if (Object.keys(counts).length > 0) zeros ??= { raw, counts };
  }
  return zeros;
}

/** Whether a report counts anything. */
export function isAbove0({ isBeside: _, isWhole: __, ...counts }: Counts): boolean {
  return Object.values(counts).some((count) => count > 0);
}

function valueAt(answer: unknown, place: readonly (string | number)[]): unknown {
  let value = answer;
  for (const step of place) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** What one report counts. Of several names for a count, the largest value is taken. */
export function countsOf(raw: Readonly<Record<string, unknown>>): Counts {
  const counts: MutableCounts = {};
  take(counts, raw, AT_ROOT);
  take(counts, raw.server_tool_use, [['web_search_requests', 'webSearches']]);
  takeDivision(counts, raw);
  for (const name of INPUT_DETAILS) {
    const details = raw[name];
    if (!isObject(details)) continue;
    take(counts, details, IN_INPUT_DETAILS);
    takeDivision(counts, details);
  }
  for (const name of OUTPUT_DETAILS) take(counts, raw[name], IN_OUTPUT_DETAILS);
  // Of OpenAI's transcripts, and of Mistral's.
  const seconds = secondsIn(raw.seconds) ?? secondsIn(raw.prompt_audio_seconds);
  if (seconds !== undefined) counts.seconds = seconds;
  if (raw.prompt_tokens) counts.isWhole = true;
  // Beside `prompt_tokens`, as LiteLLM has them, the names say nothing.
  else if (BESIDE.some((name) => (raw[name] ?? null) !== null)) counts.isBeside = true;
  return counts;
}

function take(counts: MutableCounts, from: unknown, names: Names): void {
  if (!isObject(from)) return;
  for (const [name, count] of names) {
    const value = countIn(from[name]);
    if (value !== undefined && value >= (counts[count] ?? 0)) counts[count] = value;
  }
}

/** Takes the divisions of cached tokens by kind, and of written tokens by lifetime. */
function takeDivision(counts: MutableCounts, from: Readonly<Record<string, unknown>>): void {
  take(counts, from.cached_tokens_details, IN_CACHED_DETAILS);
  for (const name of BY_LIFETIME) {
    const division = from[name];
    if (!isObject(division)) continue;
    for (const [lifetime, tokens] of Object.entries(division)) {
      const count = LIFETIME.test(lifetime) ? countIn(tokens) : undefined;
      if (count === undefined) continue;
      if (SHORTEST.has(lifetime)) counts.writtenShort = count;
      else counts.writtenLong = (counts.writtenLong ?? 0) + count;
    }
  }
}

/**
 * Merges what two events of an answer report: of each count the larger. Anthropic's events are cumulative, and gateways
 * that translate to its format (Envoy, vLLM, Bedrock's) fill later ones with zeros. A later division of the written
 * tokens by lifetime replaces an earlier one.
 */
export function mergeCounts(earlier: Counts, later: Counts): Counts {
  const merged: MutableCounts = { ...earlier };
  if (later.writtenShort || later.writtenLong) {
    delete merged.writtenShort;
    delete merged.writtenLong;
  }
  for (const name of Object.keys(later) as (keyof Counts)[]) {
    if (name === 'isBeside' || name === 'isWhole') merged[name] = true;
    else merged[name] = Math.max(merged[name] ?? 0, later[name] ?? 0);
  }
  // One event counts the cache beside the input, another within it.
  const beside = earlier.isBeside ? earlier : later;
  const whole = earlier.isWhole ? earlier : later;
  if (beside !== whole && beside.isBeside && whole.isWhole && beside.input !== undefined)
    merged.input = Math.max(beside.input, (whole.input ?? 0) - sumOf(merged.cached, merged.written));
  return merged;
}

/** Default output unit of a model: images for an image model, audio for a speech model. */
export type OutputUnit = 'output' | 'outputAudio' | 'outputImage';

/** What decides how counts become usage. */
export interface Reading {
  readonly price: Price;
  /** Default: `output`. */
  readonly unit?: OutputUnit;
  /** The report is of a message, in whose format the cache stands beside the input. Default: false. */
  readonly isMessage?: boolean;
  /** Whether the request asks for a longer cache lifetime than the shortest. Default: false. */
  readonly asksLongCache?: (() => boolean) | undefined;
  /** True if the answer has any output. Called only if the report counts none. */
  readonly wrote: () => boolean;
}

/** The usage that a report states; each side is absent if the report does not tell it, so that it is estimated. */
export interface ReportedUsage {
  readonly input?: Usage;
  readonly output?: Usage;
}

/**
 * Splits counts into priced dimensions.
 *
 * - A total is enough: Gemini leaves out counts of 0, and with xAI it counts reasoning in the total only.
 * - The cache explains first: Bedrock's totals, and LiteLLM's reports for some models, have the cache beside the prompt.
 *   What no count explains is output.
 * - A count of 0 for all input, beside output, is no report of the input (bridges that fill the members with 0); zeros
 *   alone beside an answer are no report at all (OpenRouter, for some of its providers).
 */
export function usageOf(
  counts: Counts,
  { price, unit = 'output', isMessage = false, asksLongCache, wrote }: Reading,
): ReportedUsage {
  const { total } = counts;
  const cached = counts.cached ?? sumOf(counts.cachedText, counts.cachedAudio, counts.cachedImage);
  const written = counts.written || sumOf(counts.writtenShort, counts.writtenLong);
  const input = inputOf(counts, cached + written);
  const isBeside = isMessage && counts.isBeside === true;
  const beside = input !== undefined && (isBeside || standsBeside(counts, input, cached + written));
  const whole = input === undefined ? undefined : input + (beside ? cached + written : 0);
  const rest = restOf(total, input, whole);
  const output = counts.output === undefined ? rest : Math.max(counts.output, rest ?? 0);
  const isOutput = output !== undefined && (output > 0 || Boolean(whole) || !wrote());
  const isInput = whole !== undefined && (whole > 0 || !(output || wrote()));
  return {
    ...(isInput ? { input: inputUsage(whole, counts, { cached, written, price, asksLongCache }) } : {}),
    ...(isOutput ? { output: outputUsage(output, counts, unit) } : {}),
  };
}

/** The reported input, or else what the total leaves for it. */
function inputOf({ input, output, total }: Counts, cache: number): number | undefined {
  if (input || total === undefined || output === undefined || total <= output) return input;
  return input === 0 && cache > 0 ? input : total - output;
}

/** Whether the counts show that the cache stands beside the input. */
function standsBeside({ output = 0, total }: Counts, input: number, cache: number): boolean {
  return cache > input || (cache > 0 && input + output + cache === total);
}

/** What the total counts besides the input; some totals leave out the cache beside it. */
function restOf(total?: number, input?: number, whole?: number): number | undefined {
  if (total === undefined || input === undefined || whole === undefined) return undefined;
  return Math.max(0, total - (total < whole ? input : whole));
}

function sumOf(...counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((sum, count = 0) => sum + count, 0);
}

interface InputReading extends Pick<Reading, 'price' | 'asksLongCache'> {
  readonly cached: number;
  readonly written: number;
}

function inputUsage(
  whole: number,
  counts: Counts,
  { cached, written, price, asksLongCache = () => false }: InputReading,
): Usage {
  const { audio = 0, image = 0, cachedAudio, cachedImage, writtenShort = 0, writtenLong = 0 } = counts;
  const usage = splitInput(whole, { cached, written, audio, image, cachedAudio, cachedImage }, price);
  const undivided = written - writtenShort - writtenLong;
  const long = undivided > 0 && asksLongCache() ? writtenLong + undivided : writtenLong;
  const cacheWrite1h = Math.min(long, usage.cacheWrite ?? 0);
  if (cacheWrite1h === 0) return usage;
  const { cacheWrite = 0, ...others } = usage;
  return { ...others, ...above0({ cacheWrite: cacheWrite - cacheWrite1h, cacheWrite1h }) };
}

/** Splits output tokens into text, audio and images; undivided tokens count as `unit`. */
function outputUsage(
  total: number,
  { outputText = 0, outputAudio = 0, outputImage = 0 }: Counts,
  unit: OutputUnit,
): Usage {
  const audio = Math.min(outputAudio, total);
  const image = Math.min(outputImage, total - audio);
  const rest = total - audio - image;
  const text = unit === 'output' ? rest : Math.min(outputText, rest);
  const usage: Usage = { output: text, ...above0({ outputAudio: audio, outputImage: image }) };
  return rest > text ? { ...usage, [unit]: (usage[unit] ?? 0) + rest - text } : usage;
}

/** Counts all output of an estimate as `unit`. */
export function withOutputAs(unit: OutputUnit, { output = 0, ...estimate }: Usage): Usage {
  return { ...estimate, ...outputUsage(output, {}, unit) };
}

/** The usage that an answer or an event reports. */
export function reportedUsage(answer: unknown, reading: Reading): ReportedUsage {
  const report = reportIn(answer);
  return report ? usageOf(report.counts, reading) : {};
}

/** Keeps what the events of a stream report. */
export abstract class ReportedStream {
  failed = false;
  /** What was reported so far; undefined without a report. */
  protected counts: Counts | undefined;

  protected usageBy(reading: Reading): ReportedUsage {
    return usageOf(this.counts ?? {}, reading);
  }

  /** Merges and returns the report of an event. A call that failed before the model read or wrote anything is free. */
  protected take(data: unknown): Report | undefined {
    const report = reportIn(data);
    if (!report || (this.failed && !isAbove0(report.counts))) return undefined;
    this.counts = mergeCounts(this.counts ?? {}, report.counts);
    return report;
  }
}

/** The usage if the report tells both sides. */
export function wholeUsage({ input, output }: ReportedUsage): Usage | undefined {
  return input && output && { ...input, ...output };
}

/** An estimate with the side that a report tells in place of its own. */
export function withReported(estimate: Usage, { input, output }: ReportedUsage): Usage {
  const usage = { ...estimate };
  if (input) for (const dimension of INPUT_DIMENSIONS) delete usage[dimension];
  if (output) for (const dimension of OUTPUT_DIMENSIONS) delete usage[dimension];
  return { ...usage, ...input, ...output };
}

/**
 * The same for an answer that was cut off. The larger output counts, because the report may be from long before the end:
 * Anthropic's first event reports a token or so.
 */
export function withEarlyReport(estimate: Usage, { input, output }: ReportedUsage): Usage {
  const isLate = output !== undefined && outputTokens(output) >= outputTokens(estimate);
  return withReported(estimate, { ...(input ? { input } : {}), ...(isLate ? { output } : {}) });
}
