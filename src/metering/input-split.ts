import type { Price, UnitPrices } from '../domain/catalog.ts';
import { unitsFor } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';

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
