import type { Price } from '../domain/catalog.ts';
import type { Usage } from '../domain/units.ts';
import { above0, splitInput } from './input-split.ts';
import { countIn, type Untrusted, untrusted } from './usage.ts';

/** Parts of the input tokens that have prices of their own; the total includes all of them. */
interface InputDetails {
  readonly cached_tokens: number;
  readonly cached_tokens_details: CachedDetails;
  readonly cache_write_tokens: number;
  /** Written tokens by how long they are kept: `ttl_30m_tokens`, `ttl_12h_tokens`. */
  readonly cache_write_tokens_details: Readonly<Record<string, number>>;
  readonly audio_tokens: number;
  readonly image_tokens: number;
}

/** Cached tokens by kind, named as in OpenAI's realtime usage or as in the usage of its picture tool. */
interface CachedDetails {
  readonly text_tokens: number;
  readonly audio_tokens: number;
  readonly image_tokens: number;
  readonly cached_text_tokens: number;
  readonly cached_image_tokens: number;
}

interface OutputDetails {
  readonly text_tokens: number;
  readonly audio_tokens: number;
  readonly image_tokens: number;
}

/** `usage` of chat and text completions and of embeddings, which have no `completion_tokens`. */
interface ChatUsage {
  readonly prompt_tokens: number;
  readonly prompt_tokens_details: InputDetails;
  /** With reasoning inside, except for xAI and Gemini: `total_tokens` has it then. */
  readonly completion_tokens: number;
  readonly completion_tokens_details: OutputDetails;
  readonly total_tokens: number;
  /** The name of cached tokens in reports of Kimi (Moonshot). */
  readonly cached_tokens: number;
  /** The name of cached tokens in reports of DeepSeek. */
  readonly prompt_cache_hit_tokens: number;
}

/** `usage` of responses, pictures, speech and transcripts. */
interface ResponsesUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: InputDetails;
  /** The name in transcripts and sessions. */
  readonly input_token_details: InputDetails;
  /** With reasoning inside; as in `ChatUsage`. */
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly output_tokens_details: OutputDetails;
  readonly output_token_details: OutputDetails;
  /** Beside the total in some reports, and in `input_tokens_details` in others. */
  readonly cached_tokens: number;
  readonly cached_tokens_details: CachedDetails;
}

/** Unit of a model's output where its report does not say: pictures for a picture model, sound for a speech model. */
export type OutputUnit = 'output' | 'outputAudio' | 'outputImage';

/**
 * Usage of a chat call or text completion as reported; undefined where the report is not to be believed (usage.ts).
 * `price` is that of the model, and decides what the report leaves open (input-split.ts); so does `asksLongCache` of the request.
 */
export function chatToUsage(
  reported: unknown,
  price: Price,
  asksLongCache: () => boolean = never,
): Usage | undefined {
  const usage = untrusted<ChatUsage>(reported);
  const input = countIn(usage?.prompt_tokens);
  const output = countIn(usage?.completion_tokens);
  if (!usage || input === undefined || output === undefined) return undefined;
  const cached = usage.cached_tokens ?? usage.prompt_cache_hit_tokens;
  return {
    ...inputUsage(input, usage.prompt_tokens_details, { cached_tokens: cached }, price, asksLongCache),
    ...outputUsage(wholeOutput(output, input, usage.total_tokens), usage.completion_tokens_details, 'output'),
  };
}

/** Usage of embeddings as reported, which have no output tokens; undefined where it is not to be believed. */
export function embeddingsToUsage(reported: unknown): Usage | undefined {
  const input = countIn(untrusted<ChatUsage>(reported)?.prompt_tokens);
  return input === undefined ? undefined : { input, cachedInput: 0 };
}

/**
 * Usage of a response, picture, speech or transcript as reported; undefined where it is not to be believed. `price` and
 * `asksLongCache` as in `chatToUsage`.
 */
export function responsesToUsage(
  reported: unknown,
  price: Price,
  unit: OutputUnit = 'output',
  asksLongCache: () => boolean = never,
): Usage | undefined {
  const usage = untrusted<ResponsesUsage>(reported);
  const input = countIn(usage?.input_tokens);
  const output = countIn(usage?.output_tokens);
  if (!usage || input === undefined || output === undefined) return undefined;
  const details = usage.input_tokens_details ?? usage.input_token_details;
  return {
    ...inputUsage(input, details, usage, price, asksLongCache),
    ...outputUsage(
      wholeOutput(output, input, usage.total_tokens),
      usage.output_tokens_details ?? usage.output_token_details,
      unit,
    ),
  };
}

/** All output tokens: some vendors (xAI, Gemini) count those of reasoning in the total alone. */
function wholeOutput(output: number, input: number, total: unknown): number {
  return Math.max(output, (countIn(total) ?? 0) - input);
}

/** The estimate of a model whose output is all of one unit. */
export function withOutputAs(unit: OutputUnit, { output = 0, ...estimate }: Usage): Usage {
  return addOutput({ ...estimate, output: 0 }, unit, output);
}

function addOutput(usage: Usage, unit: OutputUnit, tokens: number): Usage {
  return tokens > 0 ? { ...usage, [unit]: (usage[unit] ?? 0) + tokens } : usage;
}

/** `beside`: the report, where it may name cached tokens beside its totals. */
function inputUsage(
  total: number,
  reported: unknown,
  beside: Untrusted<Pick<ResponsesUsage, 'cached_tokens' | 'cached_tokens_details'>>,
  price: Price,
  asksLongCache: () => boolean,
): Usage {
  const details = untrusted<InputDetails>(reported) ?? {};
  const ofCached =
    untrusted<CachedDetails>(details.cached_tokens_details) ??
    untrusted<CachedDetails>(beside.cached_tokens_details);
  const cachedAudio = countIn(ofCached?.audio_tokens);
  const cachedImage = countIn(ofCached?.image_tokens ?? ofCached?.cached_image_tokens);
  const cachedText = countIn(ofCached?.text_tokens ?? ofCached?.cached_text_tokens);
  const cached = countIn(details.cached_tokens ?? beside.cached_tokens);
  const written = countIn(details.cache_write_tokens) ?? 0;
  const usage = splitInput(
    total,
    {
      cached: cached ?? (cachedText ?? 0) + (cachedAudio ?? 0) + (cachedImage ?? 0),
      written,
      audio: countIn(details.audio_tokens) ?? 0,
      image: countIn(details.image_tokens) ?? 0,
      cachedAudio,
      cachedImage,
    },
    price,
  );
  return written === 0
    ? usage
    : withLongWrites(usage, writtenForLong(written, details.cache_write_tokens_details, asksLongCache));
}

/** Written tokens that are kept longer than 30 minutes: as divided; undivided ones where the request asks for it. */
function writtenForLong(written: number, reported: unknown, asksLongCache: () => boolean): number {
  let short = 0;
  let long = 0;
  for (const [ttl, tokens] of Object.entries(untrusted<Record<string, number>>(reported) ?? {})) {
    if (ttl === 'ttl_30m_tokens') short = countIn(tokens) ?? 0;
    else if (/^ttl_.*_tokens$/.test(ttl)) long += countIn(tokens) ?? 0;
  }
  const undivided = written - short - long;
  return undivided > 0 && asksLongCache() ? long + undivided : long;
}

function withLongWrites(usage: Usage, long: number): Usage {
  const cacheWrite1h = Math.min(long, usage.cacheWrite ?? 0);
  if (cacheWrite1h === 0) return usage;
  const { cacheWrite = 0, ...others } = usage;
  return { ...others, ...above0({ cacheWrite: cacheWrite - cacheWrite1h, cacheWrite1h }) };
}

const never = () => false;

/** Splits output tokens into text, sound and pictures; tokens that the report does not divide count as `unit`. */
function outputUsage(total: number, reported: unknown, unit: OutputUnit): Usage {
  const details = untrusted<OutputDetails>(reported) ?? {};
  const outputAudio = Math.min(countIn(details.audio_tokens) ?? 0, total);
  const outputImage = Math.min(countIn(details.image_tokens) ?? 0, total - outputAudio);
  const rest = total - outputAudio - outputImage;
  const text = unit === 'output' ? rest : Math.min(countIn(details.text_tokens) ?? 0, rest);
  return addOutput({ output: text, ...above0({ outputAudio, outputImage }) }, unit, rest - text);
}
