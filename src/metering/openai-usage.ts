import type { Price, UnitPrices } from '../domain/catalog.ts';
import { unitsFor } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { countIn, type Untrusted, untrusted } from './usage.ts';

/** Input tokens with separate prices; the total includes them. */
interface InputDetails {
  readonly cached_tokens: number;
  readonly cached_tokens_details: CachedDetails;
  readonly cache_write_tokens: number;
  /** Written tokens by cache lifetime: `ttl_30m_tokens`, `ttl_12h_tokens`. */
  readonly cache_write_tokens_details: Readonly<Record<string, number>>;
  readonly audio_tokens: number;
  readonly image_tokens: number;
}

/** Cached tokens by kind, with the names of OpenAI's realtime usage and of its image tool. */
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

/** `usage` of chat and text completions, and of embeddings, which lack `completion_tokens`. */
interface ChatUsage {
  readonly prompt_tokens: number;
  readonly prompt_tokens_details: InputDetails;
  /** Includes reasoning, except from xAI and Gemini, which count it in `total_tokens` only. */
  readonly completion_tokens: number;
  readonly completion_tokens_details: OutputDetails;
  readonly total_tokens: number;
  /** Cached tokens reported by Kimi (Moonshot). */
  readonly cached_tokens: number;
  /** Cached tokens reported by DeepSeek. */
  readonly prompt_cache_hit_tokens: number;
}

/** `usage` of responses, pictures, speech and transcripts. */
interface ResponsesUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: InputDetails;
  /** As named in transcripts and sessions. */
  readonly input_token_details: InputDetails;
  /** As `completion_tokens` in `ChatUsage`. */
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly output_tokens_details: OutputDetails;
  readonly output_token_details: OutputDetails;
  /** Some reports have these here, others in `input_tokens_details`. */
  readonly cached_tokens: number;
  readonly cached_tokens_details: CachedDetails;
}

/** Default output unit of a model: images for an image model, audio for a speech model. */
type OutputUnit = 'output' | 'outputAudio' | 'outputImage';

/**
 * Reads the usage of a chat or text completion; undefined if the report is invalid (usage.ts). The model's `price` and
 * the request's `asksLongCache` decide splits that the report leaves open (`splitInput`).
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

/** Reads the usage of embeddings, which have no output; undefined if the report is invalid. */
export function embeddingsToUsage(reported: unknown): Usage | undefined {
  const input = countIn(untrusted<ChatUsage>(reported)?.prompt_tokens);
  return input === undefined ? undefined : { input, cachedInput: 0 };
}

/** Reads the usage of a response, image, speech or transcript, as `chatToUsage` does for a chat. */
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

/** Output with reasoning, which xAI and Gemini count in the total only. */
function wholeOutput(output: number, input: number, total: unknown): number {
  return Math.max(output, (countIn(total) ?? 0) - input);
}

/** Counts all output of an estimate as `unit`. */
export function withOutputAs(unit: OutputUnit, { output = 0, ...estimate }: Usage): Usage {
  return addOutput({ ...estimate, output: 0 }, unit, output);
}

function addOutput(usage: Usage, unit: OutputUnit, tokens: number): Usage {
  return tokens > 0 ? { ...usage, [unit]: (usage[unit] ?? 0) + tokens } : usage;
}

/** `beside`: the object next to the details, where some reports have the cached tokens. */
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

/** Tokens written for more than 30 minutes. Undivided tokens count if the request asks for a longer lifetime. */
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

/** Splits output tokens into text, audio and images; undivided tokens count as `unit`. */
function outputUsage(total: number, reported: unknown, unit: OutputUnit): Usage {
  const details = untrusted<OutputDetails>(reported) ?? {};
  const outputAudio = Math.min(countIn(details.audio_tokens) ?? 0, total);
  const outputImage = Math.min(countIn(details.image_tokens) ?? 0, total - outputAudio);
  const rest = total - outputAudio - outputImage;
  const text = unit === 'output' ? rest : Math.min(countIn(details.text_tokens) ?? 0, rest);
  return addOutput({ output: text, ...above0({ outputAudio, outputImage }) }, unit, rest - text);
}

/** Reported parts of the input tokens. */
export interface InputParts {
  readonly cached: number;
  readonly written: number;
  readonly audio: number;
  readonly image: number;
  /** Undefined if the report does not divide cached tokens. */
  readonly cachedAudio: number | undefined;
  readonly cachedImage: number | undefined;
}

interface Medium {
  readonly uncached: 'inputAudio' | 'inputImage';
  readonly fromCache: 'cachedInputAudio' | 'cachedInputImage';
  readonly tokens: number;
  readonly reported: number | undefined;
}

/**
 * Splits the input tokens of a report (OpenAI's formats) into disjoint dimensions whose sum is `total`. Reports divide the
 * total by medium (text, audio, image) and by cache use (cached, written). Most don't say how the two overlap:
 *
 * 1. A medium without a price is charged as text, so the overlap costs nothing: `cachedInput` and `cacheWrite` are as
 *    reported, and the medium gets the rest.
 * 2. Cached tokens that the report assigns to a medium (`cached_tokens_details`) become `cachedInputAudio` or
 *    `cachedInputImage`.
 * 3. Otherwise the most expensive split that fits the report counts, so the charge is never below the provider's bill:
 *    cached tokens count as text or medium, whichever has the smaller discount. For text that could have been written,
 *    the discount is measured from the price of writing.
 * 4. Written tokens count as text first. Any excess counts as media, at the higher of both prices.
 */
export function splitInput(total: number, parts: InputParts, price: Price): Usage {
  const cached = Math.min(parts.cached, total);
  const written = Math.min(parts.written, total - cached);
  if (parts.audio === 0 && parts.image === 0) {
    return { input: total - cached - written, cachedInput: cached, ...above0({ cacheWrite: written }) };
  }
  const units = unitsFor(price, { input: total });
  const audio = Math.min(parts.audio, total);
  const media: readonly Medium[] = [
    { uncached: 'inputAudio', fromCache: 'cachedInputAudio', tokens: audio, reported: parts.cachedAudio },
    {
      uncached: 'inputImage',
      fromCache: 'cachedInputImage',
      tokens: Math.min(parts.image, total - audio),
      reported: parts.cachedImage,
    },
  ];
  const isPriced = ({ uncached, fromCache }: Medium) =>
    price.named.has(uncached) || price.named.has(fromCache);
  const priced = media.filter(isPriced);
  const text = total - priced.reduce((sum, { tokens }) => sum + tokens, 0);
  const usage: Usage = {};
  const cachedText = Math.min(text, takeCached(usage, cached, { text, written }, priced, units));
  const writtenText = Math.min(written, text - cachedText);
  const writtenMedia = takeWritten(usage, written - writtenText, priced, units);
  let input = text - cachedText - writtenText;
  for (const medium of media) {
    if (isPriced(medium)) continue;
    usage[medium.uncached] = Math.min(medium.tokens, input);
    input -= usage[medium.uncached] ?? 0;
  }
  return { input, cachedInput: cachedText, ...above0({ cacheWrite: writtenText + writtenMedia, ...usage }) };
}

/**
 * Adds cached and uncached media tokens to `usage`; returns the cached tokens left for text. Media with a smaller
 * discount than text come first and take as many cached tokens as they can. The others take only those that exceed the
 * text.
 */
function takeCached(
  usage: Usage,
  cached: number,
  { text, written }: { readonly text: number; readonly written: number },
  media: readonly Medium[],
  units: UnitPrices,
): number {
  const dearer = ({ uncached, fromCache }: Medium, textUnit: 'input' | 'cacheWrite' = 'input') =>
    units[textUnit] - units.cachedInput - (units[uncached] - units[fromCache]);
  const order = [...media].sort((a, b) => Number(dearer(b) - dearer(a)));
  let left = cached;
  const reported = order.filter(({ reported }) => reported !== undefined);
  const unreported = order.filter(({ reported }) => reported === undefined);
  for (const medium of [...reported, ...unreported]) {
    const room = dearer(medium, 'cacheWrite') > 0n ? text - written : text;
    const wanted = medium.reported ?? (dearer(medium) > 0n ? left : left - room);
    const fromCache = Math.max(0, Math.min(wanted, medium.tokens, left));
    usage[medium.fromCache] = fromCache;
    usage[medium.uncached] = medium.tokens - fromCache;
    left -= fromCache;
  }
  return left;
}

/** Moves written tokens out of media that cost less than writing; returns how many. */
function takeWritten(usage: Usage, written: number, media: readonly Medium[], units: UnitPrices): number {
  let left = written;
  for (const { uncached } of media) {
    if (units.cacheWrite <= units[uncached]) continue;
    const taken = Math.min(left, usage[uncached] ?? 0);
    usage[uncached] = (usage[uncached] ?? 0) - taken;
    left -= taken;
  }
  return written - left;
}

export function above0(usage: Usage): Usage {
  const kept: Usage = {};
  for (const name of Object.keys(usage) as (keyof Usage)[]) {
    if (usage[name]) kept[name] = usage[name];
  }
  return kept;
}
