import type { Price, UnitPrices } from '../domain/catalog.ts';
import { unitsFor } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';

/** Parts of the input tokens as a report has them; each is 0 where the report does not name it. */
export interface InputParts {
  readonly cached: number;
  readonly written: number;
  readonly audio: number;
  readonly image: number;
  /** Cached tokens that are sound or pictures; undefined where the report does not say. */
  readonly cachedAudio: number | undefined;
  readonly cachedImage: number | undefined;
}

interface Medium {
  readonly uncached: 'inputAudio' | 'inputImage';
  readonly fromCache: 'cachedInputAudio' | 'cachedInputImage';
  readonly tokens: number;
  readonly told: number | undefined;
}

/**
 * Splits the input tokens of a report (OpenAI's formats) into dimensions, so that their sum is `total` and no token is in
 * two of them. Sound and pictures are one division of the total (the rest is text), cached and written tokens another, and
 * most reports do not say how the two overlap. The rule:
 *
 * 1. A medium that the model has no price for is charged as text, so its overlap costs nothing: `cachedInput` and
 *    `cacheWrite` are as reported, and the medium has what is left of it.
 * 2. Where the report tells the cached tokens of a medium (`cached_tokens_details`), they are `cachedInputAudio` or
 *    `cachedInputImage`.
 * 3. Where it does not, the split is the dearest of those that fit the report, so that it is never cheaper than the bill: a
 *    cached token is taken for text as long as the medium's discount is the larger one (then no discount is given that was
 *    not), and for the medium where text has the larger discount. Text that can have been written has the discount from
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
    { uncached: 'inputAudio', fromCache: 'cachedInputAudio', tokens: audio, told: parts.cachedAudio },
    {
      uncached: 'inputImage',
      fromCache: 'cachedInputImage',
      tokens: Math.min(parts.image, total - audio),
      told: parts.cachedImage,
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
  const told = order.filter(({ told }) => told !== undefined);
  const untold = order.filter(({ told }) => told === undefined);
  for (const medium of [...told, ...untold]) {
    const room = dearer(medium, 'cacheWrite') > 0n ? text - written : text;
    const wanted = medium.told ?? (dearer(medium) > 0n ? left : left - room);
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
