import type { Price, UnitPrices } from '../domain/catalog.ts';
import { unitsFor } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
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

/** Unit of a model's output if its report does not say: pictures for a picture model, sound for a speech model. */
type OutputUnit = 'output' | 'outputAudio' | 'outputImage';

/**
 * Usage of a chat call or text completion as reported; undefined if the report is not to be believed (usage.ts).
 * `price` is that of the model, and decides open splits (`splitInput`); so does `asksLongCache` of the request.
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

/** Usage of embeddings as reported, which have no output tokens; undefined if it is not to be believed. */
export function embeddingsToUsage(reported: unknown): Usage | undefined {
  const input = countIn(untrusted<ChatUsage>(reported)?.prompt_tokens);
  return input === undefined ? undefined : { input, cachedInput: 0 };
}

/**
 * Usage of a response, picture, speech or transcript as reported; undefined if it is not to be believed. `price` and
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

/** `beside`: the report, if it may name cached tokens beside its totals. */
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

/** Written tokens that are kept longer than 30 minutes: as divided; undivided ones if the request asks for it. */
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

/** Parts of the input tokens as a report has them; each is 0 if the report does not name it. */
export interface InputParts {
  readonly cached: number;
  readonly written: number;
  readonly audio: number;
  readonly image: number;
  /** Cached tokens that are sound or pictures; undefined if the report does not say. */
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
 * Splits the input tokens of a report (OpenAI's formats) into dimensions, so that their sum is `total` and no token is in
 * two of them. Sound and pictures are one division of the total (the rest is text), cached and written tokens another, and
 * most reports do not say how the two overlap. The rule:
 *
 * 1. A medium that the model has no price for is charged as text, so its overlap costs nothing: `cachedInput` and
 *    `cacheWrite` are as reported, and the medium has the rest.
 * 2. If the report tells the cached tokens of a medium (`cached_tokens_details`), they are `cachedInputAudio` or
 *    `cachedInputImage`.
 * 3. If it does not, the most expensive split that fits the report counts, so that the charge is never below the bill: a
 *    cached token is taken for text as long as the medium's discount is the larger one (then no discount is given that was
 *    not), and for the medium if text has the larger discount. Text that can have been written has the discount from
 *    the price of writing.
 * 4. Written tokens are text first; more of them than there is text are written ones of a medium, at the dearer price.
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
 * Puts the cached tokens of media, and the rest of the media, into `usage`. Returns the number of cached tokens that
 * are text. Media for which an overlap makes the call dearer come first and take all of it that they can; each other
 * medium takes only what is more than the text.
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

/** Takes written tokens out of the media that cost less than writing; returns how many. */
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

/** The dimensions of a usage that are above 0. */
export function above0(usage: Usage): Usage {
  const kept: Usage = {};
  for (const name of Object.keys(usage) as (keyof Usage)[]) {
    if (usage[name]) kept[name] = usage[name];
  }
  return kept;
}
